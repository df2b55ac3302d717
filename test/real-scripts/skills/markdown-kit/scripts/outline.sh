#!/usr/bin/env python3
"""Print the headlines of a Markdown file.

Usage: outline.sh <file>
"""
import sys

for line in open(sys.argv[1]):
    if line.startswith("#"):
        level, _, title = line.strip().partition(" ")
        print("  " * (len(level) - 1) + title)
