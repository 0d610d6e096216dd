#!/usr/bin/env bash
# Installs, starts and stops what Runyard is measured against (Debian).
#
#   peers.sh install                                as root
#   peers.sh start slurm|rsync|ssh DIRECTORY        all files of the peer go there, its pids too
#   peers.sh start runit|supervisord|s6|pm2 DIRECTORY COUNT        with that many services (stamp.sh)
#   peers.sh stop  PEER DIRECTORY
#   peers.sh has   runit|supervisord|s6|pm2         exits 0 where it is installed
set -euo pipefail

install_peers() {
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    slurm-wlm munge parallel rsync openssh-server openssh-client procps runit s6 supervisor
  npm install --prefix "$npm_peers" --no-audit --no-fund pm2
}

# What comes from npm lies in a folder of its own, so that this repository's dependencies stay as they are.
npm_peers=${TMPDIR:-/tmp}/runyard-peers
pm2=$npm_peers/node_modules/.bin/pm2
stamp=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/stamp.sh

has_peer() {
  case $1 in
    runit) command -v runsvdir ;;
    supervisord) command -v supervisord ;;
    s6) command -v s6-svscan ;;
    pm2) command -v "$pm2" ;;
  esac
}

start_slurm() {
  local directory=$1 host
  host=$(hostname -s)
  mkdir -p "$directory"/{state,spool,munge}
  # munged wants every directory above its socket to be passable, and the key to be its own.
  chmod 711 "$(dirname "$directory")" "$directory" "$directory/munge"
  head -c 1024 /dev/urandom > "$directory/munge/key"
  chmod 600 "$directory/munge/key"
  munged --force --key-file="$directory/munge/key" --socket="$directory/munge/socket" \
    --pid-file="$directory/munged.pid" --log-file="$directory/munge/log" --seed-file="$directory/munge/seed"
  write_slurm_conf "$directory" "$host" > "$directory/slurm.conf"
  export SLURM_CONF=$directory/slurm.conf
  slurmctld -f "$SLURM_CONF"
  slurmd -f "$SLURM_CONF" -N "$host"
  local tries
  for tries in $(seq 100); do
    if [ "$(sinfo -h -o %t 2> /dev/null)" = idle ]; then return 0; fi
    sleep 0.2
  done
  echo "error: Slurm's node was not idle after 20 s; see $directory/*.log" >&2
  return 1
}

# One node of 64 declared cores on loopback. No accounting, no cgroups, and a scheduler that starts what it can at once.
write_slurm_conf() {
  local directory=$1 host=$2
  cat << CONF
ClusterName=bench
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$directory/munge/socket
CredType=cred/munge
SlurmctldPort=26817
SlurmdPort=26818
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=$directory/state
SlurmdSpoolDir=$directory/spool
SlurmctldPidFile=$directory/slurmctld.pid
SlurmdPidFile=$directory/slurmd.pid
SlurmctldLogFile=$directory/slurmctld.log
SlurmdLogFile=$directory/slurmd.log
SlurmctldDebug=error
SlurmdDebug=error
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$directory/completions.txt
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,default_queue_depth=2000
MaxArraySize=10001
MaxJobCount=20000
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=64 Sockets=1 CoresPerSocket=64 ThreadsPerCore=1 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
}

start_rsync() {
  local directory=$1
  mkdir -p "$directory/target"
  cat > "$directory/rsyncd.conf" << CONF
address = 127.0.0.1
port = 18730
pid file = $directory/rsync.pid
log file = $directory/rsync.log
use chroot = no
[d]
  path = $directory/target
  read only = no
  uid = $(id -u)
  gid = $(id -g)
CONF
  rsync --daemon --config="$directory/rsyncd.conf"
  wait_for_file "$directory/rsync.pid"
}

start_ssh() {
  local directory=$1
  chmod 700 "$directory"
  ssh-keygen -q -t ed25519 -N '' -f "$directory/key"
  ssh-keygen -q -t ed25519 -N '' -f "$directory/host"
  cp "$directory/key.pub" "$directory/authorized"
  if [ "$(id -u)" = 0 ]; then mkdir -p /run/sshd; fi
  cat > "$directory/sshd.conf" << CONF
ListenAddress 127.0.0.1
Port 12222
HostKey $directory/host
PidFile $directory/sshd.pid
AuthorizedKeysFile $directory/authorized
PasswordAuthentication no
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
CONF
  /usr/sbin/sshd -f "$directory/sshd.conf"
  wait_for_file "$directory/sshd.pid"
}

# A folder for each service, as runit and s6 have them.
write_service_folders() {
  local directory=$1 count=$2 number
  mkdir -p "$directory/stamps" "$directory/scan"
  for number in $(seq "$count"); do
    mkdir "$directory/scan/s$number"
    printf '#!/bin/sh\nexec %s %s s%d\n' "$stamp" "$directory/stamps" "$number" > "$directory/scan/s$number/run"
    chmod +x "$directory/scan/s$number/run"
  done
}

start_runit() {
  write_service_folders "$1" "$2"
  setsid runsvdir "$1/scan" < /dev/null > "$1/log" 2>&1 &
  echo $! > "$1/runit.pid"
}

start_s6() {
  write_service_folders "$1" "$2"
  setsid s6-svscan -c 200 "$1/scan" < /dev/null > "$1/log" 2>&1 &
  echo $! > "$1/s6.pid"
}

start_supervisord() {
  local directory=$1 count=$2 number
  mkdir -p "$directory/stamps"
  {
    printf '[supervisord]\npidfile=%s/supervisord.pid\nlogfile=%s/log\n' "$directory" "$directory"
    for number in $(seq "$count"); do
      printf '[program:s%d]\ncommand=%s %s s%d\nautorestart=true\n' "$number" "$stamp" "$directory/stamps" "$number"
      printf 'stdout_logfile=%s/o.%d\nstderr_logfile=%s/e.%d\n' "$directory" "$number" "$directory" "$number"
    done
  } > "$directory/supervisord.conf"
  supervisord -c "$directory/supervisord.conf"
  wait_for_file "$directory/supervisord.pid"
}

start_pm2() {
  local directory=$1 count=$2 number
  mkdir -p "$directory/stamps"
  {
    echo 'module.exports = { apps: ['
    for number in $(seq "$count"); do
      printf '{ name: "s%d", script: "%s", args: "%s s%d", interpreter: "none" },\n' \
        "$number" "$stamp" "$directory/stamps" "$number"
    done
    echo '] };'
  } > "$directory/services.config.js"
  PM2_HOME=$directory "$pm2" start "$directory/services.config.js" > "$directory/log" 2>&1
}

wait_for_file() {
  local tries
  for tries in $(seq 50); do
    if [ -s "$1" ]; then return 0; fi
    sleep 0.1
  done
  echo "error: $1 did not appear within 5 s" >&2
  return 1
}

# The pids are those that the daemons wrote into this very directory; each is ended only while it is the same program.
stop_peer() {
  local directory=$1 program
  for program in slurmd slurmctld munged rsync sshd supervisord; do
    stop_program "$directory/$program.pid" "$program" TERM
  done
  # To runsvdir a hang-up means to end the services too; to s6-svscan SIGTERM does.
  stop_program "$directory/runit.pid" runsvdir HUP
  stop_program "$directory/s6.pid" s6-svscan TERM
  if [ -s "$directory/pm2.pid" ]; then PM2_HOME=$directory "$pm2" kill > /dev/null 2>&1; fi
}

stop_program() {
  local file=$1 program=$2 signal=$3 pid
  [ -s "$file" ] || return 0
  pid=$(tr -dc 0-9 < "$file")
  if [ "$(cat "/proc/$pid/comm" 2> /dev/null)" = "$program" ]; then
    kill "-$signal" "$pid"
    wait_for_end "$pid"
  fi
}

# Not a child of ours: its state says when it is over, be it that nobody has collected it yet.
wait_for_end() {
  local tries
  for tries in $(seq 100); do
    case "$(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2> /dev/null)" in '' | Z*) return 0 ;; esac
    sleep 0.1
  done
  echo "error: process $1 had not ended after 10 s" >&2
}

case "${1:-}" in
  install) install_peers ;;
  start) "start_$2" "${@:3}" ;;
  has) has_peer "$2" > /dev/null ;;
  stop) stop_peer "$3" ;;
  *)
    sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
