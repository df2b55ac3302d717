# Makes a sandbox out of fresh namespaces, and is its first process: builds the file system inside, gives up every right, starts
# the program, gathers what it leaves behind, and ends as it ended, or when whoever wanted it is gone.
#
# Descriptor 4 has the plan, words that end with a zero byte; 5 the system-call filter; 6 ends when nobody wants the program any more.
# The program gets 0 to 3.
use strict;
use POSIX ();

my %numbers = (
    x86_64  => { mount => 165, umount2 => 166, pivot_root => 155, prctl => 157, capset => 126, prlimit => 302, signalfd => 289, sethostname => 170 },
    aarch64 => { mount => 40, umount2 => 39, pivot_root => 41, prctl => 167, capset => 91, prlimit => 261, signalfd => 74, sethostname => 161 },
);
my $number = $numbers{(POSIX::uname())[4]} or fail("knowing this processor");
my ($openat2, $mount_setattr, $here, $recursive) = (437, 442, -100, 0x8000);
my ($as_place, $close_on_exec, $no_links) = (0x200000, 0x80000, 0x4);
my ($bind, $detach) = (0x1000 | 0x4000, 2);
my ($read_only, $no_setuid, $no_devices, $no_programs) = (1, 2, 4, 8);
my $last_capability = 63;

my @words = split /\0/, slurp(4), -1;
my $filter = slurp(5);
my $root = shift @words;
my (%limits, %environment, $directory, $keeps_rights, @command, @places);

mount("tmpfs", $root, "tmpfs", $no_setuid | $no_devices, "size=1m,nr_inodes=4096,mode=755");
while (@words) {
    my $word = shift @words;
    if    ($word eq "mount")  { my ($source, $target, $writes, $identity) = splice @words, 0, 4; bind_path($identity ? hold_place($source, $identity) : $source, $target, $writes) }
    elsif ($word eq "device") { my ($path) = splice @words, 0, 1; bind_device($path) }
    elsif ($word eq "tmpfs")  { my ($target, $options) = splice @words, 0, 2; make_directory($target); mount("tmpfs", "$root$target", "tmpfs", $no_setuid | $no_devices, $options) }
    elsif ($word eq "seal")   { my ($target) = splice @words, 0, 1; set_flags("$root$target", 0, $read_only) }
    elsif ($word eq "link")   { my ($path, $target) = splice @words, 0, 2; make_parent($path); symlink $target, "$root$path" or fail("linking $path") }
    elsif ($word eq "limit")  { my ($resource, $most) = splice @words, 0, 2; $limits{$resource} = $most }
    elsif ($word eq "set")    { my ($name, $value) = splice @words, 0, 2; $environment{$name} = $value }
    elsif ($word eq "in")     { ($directory) = splice @words, 0, 1 }
    elsif ($word eq "keep")   { $keeps_rights = 1 }
    elsif ($word eq "run")    { pop @words; @command = splice @words }
    else                      { fail("knowing what '$word' is") }
}
POSIX::close($_) for @places;
make_directory("/proc");
mount("proc", "$root/proc", "proc", $no_setuid | $no_devices | $no_programs, "");
set_flags($root, 0, $read_only);
raise_loopback();
enter();
run();

# Programs may talk to each other over it; it leads nowhere else.
sub raise_loopback {
    socket my $any, 2, 2, 0 or return;
    my $request = pack "a16 S x22", "lo", 1;
    ioctl $any, 0x8914, $request;
    close $any;
}

sub enter {
    chdir $root or fail("going to the new root");
    my $dot = ".";
    syscall($number->{pivot_root}, $dot, $dot) == 0 or fail("changing the root");
    syscall($number->{umount2}, $dot, $detach) == 0 or fail("leaving the old root");
    chdir $directory or fail("going to $directory");
    my $name = "tool";
    syscall($number->{sethostname}, $name, length $name);
    return if $keeps_rights;
    open my $file, ">", "/proc/sys/user/max_user_namespaces" or fail("forbidding namespaces");
    defined syswrite $file, "0" or fail("forbidding namespaces");
    close $file;
}

sub run {
    my $child_ended = POSIX::SigSet->new(POSIX::SIGCHLD());
    POSIX::sigprocmask(POSIX::SIG_BLOCK(), $child_ended);
    my $pid = fork;
    defined $pid or fail("starting a process");
    if ($pid == 0) {
        POSIX::sigprocmask(POSIX::SIG_UNBLOCK(), $child_ended);
        POSIX::setsid();
        start_command();
    }
    # Its memory and descriptors are nobody's business.
    syscall($number->{prctl}, 4, 0, 0, 0, 0);
    POSIX::close($_) for 0 .. 3;
    my $mask = pack "Q", 1 << (POSIX::SIGCHLD() - 1);
    my $signals = syscall($number->{signalfd}, -1, $mask, 8, 0);
    for (;;) {
        my $ready = "";
        vec($ready, 6, 1) = 1;
        vec($ready, $signals, 1) = 1;
        select $ready, undef, undef, undef;
        POSIX::_exit(137) if vec($ready, 6, 1);
        POSIX::read($signals, my $facts, 128) if vec($ready, $signals, 1);
        while ((my $ended = waitpid -1, POSIX::WNOHANG()) > 0) {
            POSIX::_exit($? & 127 ? 128 + ($? & 127) : $? >> 8) if $ended == $pid;
        }
    }
}

sub start_command {
    opendir my $all, "/proc/self/fd" or fail("listing descriptors");
    my @open = grep { /^\d+$/ && $_ > 3 } readdir $all;
    closedir $all;
    POSIX::close($_) for @open;
    for my $resource (keys %limits) {
        my $limit = pack "QQ", $limits{$resource}, $limits{$resource};
        syscall($number->{prlimit}, 0, $resource + 0, $limit, 0) == 0 or fail("setting a limit");
    }
    give_up_rights() unless $keeps_rights;
    syscall($number->{prctl}, 38, 1, 0, 0, 0) == 0 or fail("giving up privileges");
    if (length $filter) {
        my $program = pack "S x6 P", length($filter) / 8, $filter;
        syscall($number->{prctl}, 22, 2, $program, 0, 0) == 0 or fail("setting the filter");
    }
    %ENV = %environment;
    exec { $command[0] } @command or fail("starting $command[0]");
}

sub give_up_rights {
    syscall($number->{prctl}, 24, $_, 0, 0, 0) for 0 .. $last_capability;
    syscall($number->{prctl}, 47, 4, 0, 0, 0) == 0 or fail("giving up rights");
    my $who = pack "Ll", 0x20080522, 0;
    my $none = pack "L6", (0) x 6;
    syscall($number->{capset}, $who, $none) == 0 or fail("giving up rights");
}

sub bind_path {
    my ($source, $target, $writes) = @_;
    -d $source ? make_directory($target) : make_file($target);
    mount($source, "$root$target", "", $bind, "");
    set_flags("$root$target", $recursive, $no_setuid | $no_devices | ($writes ? 0 : $read_only));
}

# The links of a granted path were resolved when it was granted, and it was looked at a moment ago: what is there now must be the same.
sub hold_place {
    my ($path, $identity) = @_;
    my $how = pack "Q3", $as_place | $close_on_exec, 0, $no_links;
    my $place = syscall($openat2, $here, $path, $how, length $how);
    $place >= 0 or fail("opening the granted path $path");
    push @places, $place;
    my @facts = stat "/proc/self/fd/$place";
    "$facts[0]:$facts[1]" eq $identity or fail("opening the granted path $path, which was replaced");
    return "/proc/self/fd/$place";
}

sub bind_device {
    my ($path) = @_;
    make_file($path);
    mount($path, "$root$path", "", $bind, "");
    set_flags("$root$path", 0, $no_setuid | $no_programs);
}

sub mount {
    my ($source, $target, $type, $flags, $options) = @_;
    syscall($number->{mount}, $source, $target, $type, $flags, $options) == 0 or fail("mounting $target");
}

sub set_flags {
    my ($path, $how, $flags) = @_;
    my $change = pack "Q4", $flags, 0, 0, 0;
    syscall($mount_setattr, $here, $path, $how, $change, length $change) == 0 or fail("protecting $path");
}

sub make_parent {
    my ($path) = @_;
    make_directory($1) if $path =~ m{^(/.+)/};
}

sub make_directory {
    my ($path) = @_;
    return if -d "$root$path";
    make_parent($path);
    mkdir "$root$path", 0755 or -d "$root$path" or fail("making $path");
}

sub make_file {
    my ($path) = @_;
    return if -e "$root$path";
    make_parent($path);
    open my $file, ">", "$root$path" or fail("making $path");
    close $file;
}

sub slurp {
    my ($descriptor) = @_;
    open my $file, "<&=:raw", $descriptor or fail("reading the plan");
    local $/;
    my $text = <$file>;
    close $file;
    return $text // "";
}

sub fail {
    print STDERR "kitbag: sandbox: $_[0]: $!\n";
    POSIX::_exit(125);
}
