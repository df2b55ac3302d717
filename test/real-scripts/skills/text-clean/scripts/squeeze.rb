#!/usr/bin/env ruby
# Removes white space that is there twice.
#
# Usage: squeeze.rb <file>
abort "Usage: squeeze.rb <file>" if ARGV.empty?
File.foreach(ARGV[0]) { |line| puts line.squeeze(" ").rstrip }
