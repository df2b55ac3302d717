#!/usr/bin/env ruby
# Prints one column of whitespace separated text.
# Usage: pick_column.rb COLUMN
column = Integer(ARGV.fetch(0) { abort "Usage: pick_column.rb COLUMN" })
$stdin.each_line { |line| puts line.split[column - 1].to_s }
