# Runs as root, in a mount namespace of its own: mounts what was granted, and lets another user act on it as its owner would.
#
#   own-mounts.pl <user> <group> (<how> <identity> <folder> <source> <target>)... -- <program> <argument>...
#
# Each source, which must still be the one with this device and inode, appears at its target. With "own", the ids of its owner are
# shown as <user> and <group>; what <user> makes there belongs to the owner. If <folder> is not empty, the source is an entry of that
# folder, whose owner counts.
use strict;
use POSIX ();

my %unshare_number = ("x86_64" => 272, "aarch64" => 97);
my $unshare = $unshare_number{(POSIX::uname())[4]} or fail("this processor is not known");
my ($open_tree, $move_mount, $openat2, $mount_setattr) = (428, 429, 437, 442);
my ($here, $clone, $recursive, $empty_path, $from_descriptor, $idmap, $new_user) = (-100, 0x1, 0x8000, 0x1000, 0x4, 0x100000, 0x10000000);
my ($as_place, $close_on_exec, $no_links) = (0x200000, 0x80000, 0x4);

my %held;
my ($user, $group) = splice @ARGV, 0, 2;
while (@ARGV && $ARGV[0] ne "--") {
    my ($how, $identity, $folder, $source, $target) = splice @ARGV, 0, 5;
    show($how, $identity, $folder, $source, $target);
}
shift @ARGV;
release_ids();
exec { $ARGV[0] } @ARGV or fail("starting $ARGV[0]");

sub show {
    my ($how, $identity, $folder, $source, $target) = @_;
    my $around = $folder eq "" ? undef : hold_place($here, $folder);
    my $place = defined $around ? hold_place($around, substr $source, 1 + length $folder) : hold_place($here, $source);
    my @facts = stat "/proc/self/fd/$place" or fail("looking at $source");
    "$facts[0]:$facts[1]" eq $identity or fail("opening the granted path $source, which was replaced");
    @facts = stat "/proc/self/fd/$around" or fail("looking at $folder") if defined $around;
    my $empty = "";
    my $tree = syscall($open_tree, $place, $empty, $clone | $recursive | $empty_path);
    $tree >= 0 or fail("opening $source");
    POSIX::close($_) for grep { defined } $place, $around;
    own($tree, "$facts[4]:$facts[5]") if $how eq "own";
    syscall($move_mount, $tree, $empty, $here, $target, $from_descriptor) == 0 or fail("mounting $source");
    POSIX::close($tree);
}

# Its links were resolved when it was granted: one that is there now was put there by another program.
sub hold_place {
    my ($folder, $path) = @_;
    my $request = pack "Q3", $as_place | $close_on_exec, 0, $no_links;
    my $place = syscall($openat2, $folder, $path, $request, length $request);
    $place >= 0 or fail("opening the granted path $path");
    return $place;
}

sub own {
    my ($tree, $owner) = @_;
    my $held = $held{$owner} //= hold_owner($owner);
    my $change = pack "Q4", $idmap, 0, 0, fileno $held->{ids};
    my $empty = "";
    syscall($mount_setattr, $tree, $empty, $empty_path | $recursive, $change, length $change) == 0 or fail("mapping the owner");
}

# Many places have the same owner, and are mapped by the same user namespace.
sub hold_owner {
    my ($owner, $owning_group) = split /:/, $_[0];
    my ($pid, $release) = hold_ids("$owner $user 1", "$owning_group $group 1");
    open my $ids, "<", "/proc/$pid/ns/user" or fail("reading the ids");
    return { pid => $pid, release => $release, ids => $ids };
}

sub release_ids {
    # A later process has the pipes of those before it open, too: each ends only when all are closed here.
    close $_->{release} for values %held;
    waitpid $_->{pid}, 0 for values %held;
}

# A process that holds a user namespace with these ids, until it is released.
sub hold_ids {
    my ($users, $groups) = @_;
    pipe my $wait, my $release;
    pipe my $ready, my $made;
    my $pid = fork;
    defined $pid or fail("starting a process");
    if ($pid == 0) {
        close $release;
        syscall($unshare, $new_user) == 0 or POSIX::_exit(1);
        syswrite $made, "x";
        sysread $wait, my $nothing, 1;
        POSIX::_exit(0);
    }
    close $made;
    sysread $ready, my $byte, 1 or fail("making a user namespace");
    put("/proc/$pid/uid_map", $users);
    put("/proc/$pid/setgroups", "deny");
    put("/proc/$pid/gid_map", $groups);
    return ($pid, $release);
}

sub put {
    my ($path, $text) = @_;
    open my $file, ">", $path or fail("opening $path");
    defined syswrite $file, $text or fail("writing $path");
    close $file;
}

sub fail {
    print STDERR "kitbag: $_[0]: $!\n";
    POSIX::_exit(125);
}
