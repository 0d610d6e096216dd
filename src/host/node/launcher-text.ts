/**
 * The launcher, in the Perl that nearly every system has: it reads launches from stdin and forks a shim for each,
 * without the cost of starting a program. Its shims leave the records that the `sh` shim leaves, under the same names,
 * and know true wait statuses. They are subreapers on Linux: whatever the job leaves behind stays their descendant, so
 * that a shim with no child left knows, and records, that the whole tree is gone.
 *
 * Its arguments are the cgroups that it joins itself, so that all it forks is born in them: to move a process into a
 * cgroup takes the kernel more than 10 ms when it has not done so for a while.
 *
 * A launch is four bytes of length (big endian) and that many bytes of fields, separated by NUL. The answer is one byte
 * once the shim has been forked. End of stdin ends the launcher; its shims do not notice.
 */
export const launcherText = String.raw`# Runyard's launcher: forks a shim for every launch that it reads from stdin.
use strict;
use warnings;
use Config;
use Errno qw(EINTR ENOENT);
use Fcntl qw(O_WRONLY O_CREAT O_EXCL O_TRUNC O_APPEND);
use POSIX ();

my %subreaper_call = (x86_64 => 157, aarch64 => 167);
my $prctl = $^O eq 'linux' ? $subreaper_call{($Config{archname} =~ /^([^-]+)/)[0]} : undef;
my @caught = qw(TERM INT HUP QUIT USR1 USR2 ALRM);
my $exit_length = 200;

$SIG{CHLD} = 'IGNORE';
$SIG{PIPE} = 'IGNORE';
join_groups(@ARGV);
# A spare shim is forked ahead and waits for a launch, so that a start costs one fork less while somebody waits for it.
# The next one is forked a moment later, or at once for a launch that is there before: it would take its turn on a busy
# core from the shim that is just starting its command.
my $spare;
my $own_identity;
prepare();
my $unread = '';
while (1) {
  while (length($unread) >= 4 && length($unread) >= 4 + unpack('N', $unread)) {
    my $length = unpack('N', $unread);
    start(substr($unread, 4, $length));
    substr($unread, 0, 4 + $length, '');
  }
  if (!$spare && !has_input(0.02)) {
    prepare();
    next;
  }
  my $got = sysread(STDIN, $unread, 1 << 20, length($unread));
  next if !defined($got) && $! == EINTR;
  last if !$got;
}

sub has_input {
  my ($seconds) = @_;
  my $wanted = '';
  vec($wanted, fileno(STDIN), 1) = 1;
  return select($wanted, undef, undef, $seconds) != 0;
}

sub start {
  my ($frame) = @_;
  while (1) {
    prepare() if !$spare;
    my $handed = hand_over($spare, $frame);
    close($spare);
    $spare = undef;
    # A spare that somebody killed cannot have begun: it had not read all of the launch.
    last if $handed;
  }
  syswrite(STDOUT, '.');
}

sub prepare {
  pipe(my $in, my $out) or exit 1;
  my $shim = fork();
  exit 1 if !defined($shim);
  if ($shim) {
    close($in);
    $spare = $out;
    return;
  }
  close($out);
  $SIG{CHLD} = 'DEFAULT';
  $SIG{$_} = sub { } for @caught;
  POSIX::setsid();
  quiet();
  syscall($prctl, 36, 1, 0, 0, 0) if $prctl;
  $0 = 'runyard-shim spare';
  $own_identity = identity();
  my $frame = receive($in);
  eval { shim(parse($frame)); } if defined($frame);
  POSIX::_exit(1);
}

sub hand_over {
  my ($out, $frame) = @_;
  my $text = pack('N', length($frame)) . $frame;
  my $sent = 0;
  while ($sent < length($text)) {
    my $wrote = syswrite($out, $text, length($text) - $sent, $sent);
    next if !defined($wrote) && $! == EINTR;
    return 0 if !$wrote;
    $sent += $wrote;
  }
  return 1;
}

# Undefined when the launcher ended before it had a launch to give.
sub receive {
  my ($in) = @_;
  my $text = '';
  while (length($text) < 4 || length($text) < 4 + unpack('N', $text)) {
    my $got = sysread($in, $text, 1 << 20, length($text));
    next if !defined($got) && $! == EINTR;
    return undef if !$got;
  }
  close($in);
  return substr($text, 4);
}

sub parse {
  my ($frame) = @_;
  my ($directory, $label, $nonce, $boot, $bell, $workdir, $group_count, @rest) = split(/\0/, $frame, -1);
  my @groups = splice(@rest, 0, $group_count);
  my $variable_count = shift @rest;
  my @variables = splice(@rest, 0, $variable_count);
  return {
    base => "$directory/$label", directory => $directory, nonce => $nonce, boot => $boot, bell => $bell,
    workdir => $workdir, groups => \@groups, variables => \@variables, argv => \@rest,
  };
}

sub shim {
  my ($launch) = @_;
  my $base = $launch->{base};
  $0 = "runyard-shim $base";
  my $claim = "$base.claim.$launch->{nonce}";
  record($claim, O_EXCL, in_boot($own_identity, $launch)) or POSIX::_exit(0);
  if (!reserve("$base.exit.json")) {
    unlink($claim);
    POSIX::_exit(0);
  }
  chdir($launch->{workdir}) or finish($launch, '"fault":"workdir"');

  my $signals = POSIX::SigSet->new(map { POSIX->can("SIG$_")->() } @caught);
  POSIX::sigprocmask(POSIX::SIG_BLOCK(), $signals);
  my $job = fork();
  finish($launch, '"fault":"start"') if !defined($job);
  if (!$job) {
    $SIG{$_} = 'DEFAULT' for @caught, 'PIPE', 'CHLD';
    POSIX::sigprocmask(POSIX::SIG_UNBLOCK(), $signals);
    run($launch);
    POSIX::_exit(1);
  }
  POSIX::sigprocmask(POSIX::SIG_UNBLOCK(), $signals);
  my $status = wait_for($job);
  $launch->{alone} = $prctl && waitpid(-1, POSIX::WNOHANG()) == -1;
  finish($launch, '"fault":"start"') if !-s "$base.run.json";
  my $signal = $status & 127;
  finish($launch, $signal ? qq("code":null,"signal":$signal) : sprintf('"code":%d,"signal":null', $status >> 8));
}

# Runs in the job's own process and returns only if it could not start.
sub run {
  my ($launch) = @_;
  my $base = $launch->{base};
  for my $stream ([1, 'out'], [2, 'err']) {
    my ($number, $ending) = @$stream;
    sysopen(my $log, "$base.$ending", O_WRONLY | O_CREAT | O_APPEND, 0666) or return explain($launch, "$base.$ending");
    POSIX::dup2(fileno($log), $number);
  }
  join_groups(@{$launch->{groups}});
  record("$base.run.json", O_TRUNC, in_boot(identity(), $launch)) or return explain($launch, "$base.run.json");
  %ENV = ();
  for my $variable (@{$launch->{variables}}) {
    my $at = index($variable, '=');
    $ENV{substr($variable, 0, $at)} = substr($variable, $at + 1);
  }
  my @argv = @{$launch->{argv}};
  no warnings 'exec';
  exec {$argv[0]} @argv;
  my ($missing, $reason) = ($! == ENOENT, "$!");
  syswrite(STDERR, "$argv[0]: $reason\n");
  POSIX::_exit($missing ? 127 : 126);
}

sub join_groups {
  for my $group (@_) {
    sysopen(my $procs, $group, O_WRONLY) or next;
    syswrite($procs, "0\n");
  }
}

sub explain {
  my ($launch, $path) = @_;
  my $reason = "$path: $!\n";
  sysopen(my $file, "$launch->{base}.shim", O_WRONLY | O_CREAT | O_TRUNC, 0600) or return;
  syswrite($file, $reason);
}

# A subreaper is given the job's orphans too, and must take their statuses.
sub wait_for {
  my ($job) = @_;
  while (1) {
    my $ended = waitpid(-1, 0);
    return $? if $ended == $job;
    POSIX::_exit(1) if $ended == -1 && $! != EINTR;
  }
}

sub finish {
  my ($launch, $fields) = @_;
  $fields .= ',"alone":true' if $launch->{alone};
  record("$launch->{base}.exit.json", 0, $fields, $exit_length) or POSIX::_exit(1);
  if (length($launch->{bell}) && sysopen(my $bell, $launch->{bell}, O_WRONLY | O_CREAT | O_APPEND, 0600)) {
    syswrite($bell, "$launch->{directory}\n");
  }
  POSIX::_exit(0);
}

# Takes the room that the exit record will need: a job may fill the disk, and its end must be told all the same.
sub reserve {
  my ($path) = @_;
  return store($path, O_TRUNC, "\n" x $exit_length);
}

# Written over what was reserved, a record is as long as that: spaces before it are none of it.
sub record {
  my ($path, $how, $fields, $length) = @_;
  my $text = "{$fields,\"end\":true}\n";
  return store($path, $how, sprintf('%*s', $length // 0, $text));
}

sub store {
  my ($path, $how, $text) = @_;
  sysopen(my $file, $path, O_WRONLY | O_CREAT | $how, 0600) or return 0;
  my $written = syswrite($file, $text);
  return 1 if close($file) && defined($written) && $written == length($text);
  # A claim without its content would say that somebody may have started.
  unlink($path) if $how & O_EXCL;
  return 0;
}

sub in_boot {
  my ($identity, $launch) = @_;
  return qq($identity,"bootId":"$launch->{boot}");
}

sub identity {
  my ($pid, $ticks);
  if (open(my $stat, '<', '/proc/self/stat')) {
    my $line = <$stat>;
    ($pid) = $line =~ /^(\d+)/;
    $line =~ s/^.*\) //s;
    $ticks = (split(/ /, $line))[19];
  } else {
    $pid = POSIX::getpid();
    $ticks = qx(LC_ALL=C TZ=UTC0 ps -o lstart= -p $pid);
    $ticks =~ s/^\s+|\s+$//g;
    $ticks = "\"$ticks\"";
  }
  return qq("pid":$pid,"startTicks":$ticks);
}

sub quiet {
  sysopen(my $null, '/dev/null', POSIX::O_RDWR());
  POSIX::dup2(fileno($null), $_) for 0, 1, 2;
}
`;
