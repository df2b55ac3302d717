#!/usr/bin/env ruby
# Prints words of the pages of a folder that words.txt does not have.
# Usage: spelling.rb FOLDER
folder = ARGV.shift or abort "Usage: spelling.rb FOLDER"
known = File.exist?("words.txt") ? File.readlines("words.txt", chomp: true) : []
words = Dir.glob(File.join(folder, "*.md")).sort.flat_map { |page| File.read(page).downcase.scan(/[a-z]+/) }
puts (words.uniq - known).sort
