#!/usr/bin/env perl
# Count words.
# Usage: words.pl <file> [limit]
use strict;
use warnings;

my ($file, $limit) = @ARGV;
die "Usage: words.pl <file> [limit]\n" unless defined $file;
$limit //= 3;
open(my $source, '<', $file) or die "Cannot open $file: $!\n";
my %count;
while (my $line = <$source>) { $count{lc $1}++ while $line =~ /(\w+)/g; }
my @words = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
for my $word (@words[0 .. ($limit - 1 < $#words ? $limit - 1 : $#words)]) { print "$word $count{$word}\n"; }
