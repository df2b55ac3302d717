#!/usr/bin/env ruby
# Writes the file ignore.txt for some languages.
#
# Usage: gitignore.rb <language>...
PARTS = { "python" => %w[__pycache__/ *.pyc], "node" => %w[node_modules/ dist/] }.freeze
abort "Usage: gitignore.rb <language>..." if ARGV.empty?
lines = ARGV.flat_map { |language| PARTS.fetch(language) { abort "unknown language #{language}" } }
File.write("ignore.txt", lines.join("\n") + "\n")
puts "#{lines.size} lines in ignore.txt"
