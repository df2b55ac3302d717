#!/usr/bin/env perl
# Turn key = value lines into JSON.
use strict;
use warnings;
my %values;
while (my $line = <STDIN>) {
    next unless $line =~ /^\s*(\w+)\s*=\s*(.*?)\s*$/;
    $values{$1} = $2;
}
print "{", join(", ", map { "\"$_\": \"$values{$_}\"" } sort keys %values), "}\n";
