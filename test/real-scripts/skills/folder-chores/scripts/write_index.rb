#!/usr/bin/env ruby
# frozen_string_literal: true

# Write an index of a folder into it.
#
# Usage: write_index.rb DIRECTORY
dir = ARGV[0] or abort("Usage: write_index.rb DIRECTORY")
names = Dir.children(dir).reject { |name| name == "INDEX.txt" }.sort
File.write(File.join(dir, "INDEX.txt"), names.map { |name| "* #{name}\n" }.join)
puts "#{names.size} entries"
