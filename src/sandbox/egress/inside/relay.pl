# Listens on ports of 127.0.0.1 and passes every connection on to a unix socket: relay.pl PRCTL FILTER (PORT SOCKET)... -- COMMAND ...
#
# PRCTL is the number of that system call on this machine. Once the ports are open it puts on the filter and becomes the command, and leaves a process behind that does the work and is not its
# child. That process alone may open unix sockets, so the command cannot look into it. Variables of the command have a prefix, so that
# none of them changes what happens here. It brings the interface "lo" up if it may.
# No modules: those that are usual here take four times as long to load as Perl takes to start.
use strict;

my ($unix, $inet, $stream, $datagram) = (1, 2, 1, 2);
my ($tcp, $no_delay) = (6, 1);
my ($get_flags, $set_flags, $up) = (0x8913, 0x8914, 1);
my ($f_getfl, $f_setfl, $nonblock) = (3, 4, 0x800);
my ($interrupted, $again) = (4, 11);
my ($chunk, $most_waiting, $most_sides) = (65536, 262144, 200);
my ($set_dumpable, $no_new_privileges, $set_filter, $by_filter) = (4, 38, 22, 2);
my $prefix = "KITBAG_FOR_";

my ($prctl, $filter_path, @words) = @ARGV;
my (@routes, @listeners, %sides);
push @routes, [splice @words, 0, 2] while @words > 2 && $words[0] ne "--";
my ($dashes, @command) = @words;
fail("expected: relay.pl PRCTL FILTER (PORT SOCKET)... -- COMMAND ...") unless @routes && @command && $dashes eq "--" && !grep { $_->[0] !~ /^\d+$/ } @routes;
my $filter = slurp($filter_path);

raise_loopback();
@listeners = map { open_port(@$_) } @routes;
# Before there is a child: what can be looked into for a moment can be changed in it.
control($set_dumpable, 0);
leave_behind();
put_on($filter);
my %own = map { substr($_, length $prefix) => $ENV{$_} } grep { index($_, $prefix) == 0 } keys %ENV;
delete @ENV{grep { index($_, $prefix) == 0 } keys %ENV};
@ENV{keys %own} = values %own;
exec { $command[0] } @command or fail("cannot start $command[0]: $!");

sub slurp {
    my ($path) = @_;
    open my $file, "<:raw", $path or fail("cannot read the filter: $!");
    local $/;
    return scalar <$file>;
}

sub control {
    my ($what, @more) = @_;
    syscall($prctl + 0, $what, @more, (0) x (4 - @more)) == 0 or fail("prctl $what: $!");
}

sub put_on {
    my ($bytes) = @_;
    my $program = pack "S x6 P", length($bytes) / 8, $bytes;
    control($no_new_privileges, 1);
    control($set_filter, $by_filter, $program);
}

sub open_port {
    my ($port, $path) = @_;
    socket(my $handle, $inet, $stream, 0) or fail("socket: $!");
    setsockopt $handle, 1, 2, pack("l", 1);
    bind($handle, pack("S n C4 x8", $inet, $port, 127, 0, 0, 1)) or fail("cannot use 127.0.0.1:$port: $!");
    listen($handle, 128) or fail("listen: $!");
    return { handle => $handle, number => fileno $handle, path => $path };
}

sub raise_loopback {
    socket(my $any, $inet, $datagram, 0) or fail("socket: $!");
    my $request = pack "a16 S x22", "lo", 0;
    ioctl $any, $get_flags, $request or fail("there is no lo: $!");
    my $flags = unpack "x16 S", $request;
    return if $flags & $up;
    $request = pack "a16 S x22", "lo", $flags | $up;
    ioctl $any, $set_flags, $request or fail("lo is down and cannot be brought up: $!");
}

# Two forks, so that the command never waits for a child that it does not know.
sub leave_behind {
    my $first = fork;
    defined $first or fail("fork: $!");
    return waitpid $first, 0 if $first;
    my $second = fork;
    defined $second or fail("fork: $!");
    if ($second) { kill 9, $$ }
    setpgrp 0, 0;
    $0 = "kitbag-relay";
    let_go();
    serve();
}

# The streams of the command must end when the command ends.
sub let_go {
    open STDIN, "<", "/dev/null";
    open STDOUT, ">", "/dev/null";
    open STDERR, ">", "/dev/null";
    opendir my $directory, "/proc/self/fd" or return;
    my %kept = map { $_->{number} => 1 } @listeners;
    my @numbers = grep { /^\d+$/ && $_ > 2 && !$kept{$_} } readdir $directory;
    closedir $directory;
    for my $number (@numbers) {
        my $handle;
        open $handle, "<&=", $number and close $handle;
    }
}

sub serve {
    $SIG{PIPE} = "IGNORE";
    quicken($_->{handle}) for @listeners;
    for (;;) {
        my ($reads, $writes) = ("", "");
        if (keys %sides < $most_sides) { vec($reads, $_->{number}, 1) = 1 for @listeners }
        for my $side (values %sides) {
            vec($reads, $side->{number}, 1) = 1 if !$side->{ended} && length $side->{other}{waiting} < $most_waiting;
            vec($writes, $side->{number}, 1) = 1 if length $side->{waiting};
        }
        select $reads, $writes, undef, undef;
        for my $number (keys %sides) {
            send_waiting($sides{$number}) if vec($writes, $number, 1) && $sides{$number};
            receive($sides{$number}) if vec($reads, $number, 1) && $sides{$number};
        }
        for my $listener (@listeners) { welcome($listener) if vec($reads, $listener->{number}, 1) }
    }
}

sub welcome {
    my ($listener) = @_;
    my $client;
    if (!accept $client, $listener->{handle}) {
        # Most likely there are no descriptors left; one may be free soon.
        select undef, undef, undef, 0.02 if $! != $again;
        return;
    }
    # Else the second of two writes waits for the answer to the first.
    setsockopt $client, $tcp, $no_delay, pack("l", 1);
    my $upstream;
    socket($upstream, $unix, $stream, 0) && connect($upstream, pack("S a108", $unix, $listener->{path})) or return;
    my ($one, $two) = map { quicken($_); { handle => $_, number => fileno $_, waiting => "" } } $client, $upstream;
    ($one->{other}, $two->{other}) = ($two, $one);
    $sides{$_->{number}} = $_ for $one, $two;
}

sub receive {
    my ($side) = @_;
    my $count = sysread $side->{handle}, my $bytes, $chunk;
    if (!defined $count) { return $! == $again || $! == $interrupted ? undef : drop($side) }
    if ($count == 0) { $side->{ended} = 1 }
    else { $side->{other}{waiting} .= $bytes }
    send_waiting($side->{other});
}

sub send_waiting {
    my ($side) = @_;
    if (length $side->{waiting}) {
        my $count = syswrite $side->{handle}, $side->{waiting};
        if (!defined $count) { return $! == $again || $! == $interrupted ? undef : drop($side) }
        substr($side->{waiting}, 0, $count) = "";
    }
    return if length $side->{waiting} || !$side->{other}{ended} || $side->{closed};
    shutdown $side->{handle}, 1;
    $side->{closed} = 1;
    drop($side) if $side->{other}{closed};
}

sub drop {
    my ($side) = @_;
    for my $each ($side, $side->{other}) {
        delete $sides{$each->{number}};
        close $each->{handle};
    }
    # Two that know each other are never forgotten otherwise.
    delete $side->{other}{other};
    delete $side->{other};
}

sub quicken {
    my ($handle) = @_;
    fcntl $handle, $f_setfl, fcntl($handle, $f_getfl, 0) | $nonblock;
}

sub fail {
    print STDERR "kitbag: relay: $_[0]\n";
    exit 125;
}
