#!/usr/bin/env perl
# Make Unix line ends, in place.
# Usage: crlf.pl FILE...
use strict;
use warnings;
die "Usage: crlf.pl FILE...\n" unless @ARGV;
for my $file (@ARGV) {
    open my $in, '<:raw', $file or die "Cannot open $file: $!\n";
    local $/;
    my $text = <$in>;
    close $in;
    my $count = ($text =~ s/\r\n/\n/g) || 0;
    open my $out, '>:raw', $file or die "Cannot write $file: $!\n";
    print $out $text;
    close $out;
    print "$count lines\n";
}
