#!/usr/bin/env bash
# Installs, starts and stops what Runyard is measured against (Debian).
#
#   peers.sh install                            as root
#   peers.sh start slurm|rsync|ssh DIRECTORY    all files of the peer go there, its pids too
#   peers.sh stop  slurm|rsync|ssh DIRECTORY
set -euo pipefail

install_peers() {
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    slurm-wlm munge parallel rsync openssh-server openssh-client procps
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
  local directory=$1 program file pid
  for program in slurmd slurmctld munged rsync sshd; do
    file=$directory/$program.pid
    [ -s "$file" ] || continue
    pid=$(tr -dc 0-9 < "$file")
    if [ "$(cat "/proc/$pid/comm" 2> /dev/null)" = "$program" ]; then
      kill "$pid"
      wait_for_end "$pid"
    fi
  done
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
  start) "start_$2" "$3" ;;
  stop) stop_peer "$3" ;;
  *)
    sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
