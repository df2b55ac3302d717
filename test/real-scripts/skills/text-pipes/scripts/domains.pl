#!/usr/bin/perl
# Count the domains of mail addresses, one address per line.
use strict; use warnings;
my %count;
while (<>) {
    $count{lc $1}++ if /@([\w.-]+)/;
}
print "$_ $count{$_}\n" for sort keys %count;
