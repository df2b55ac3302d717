#!/usr/bin/env python3
"""Drop lines that were there before, keeping the order."""
import argparse
import sys

parser = argparse.ArgumentParser(description="Drop lines that were there before, keeping the order.")
parser.add_argument("source", type=argparse.FileType("r"), help="text file, or - for standard input")
parser.add_argument("target", nargs="?", type=argparse.FileType("w"), default=sys.stdout)
options = parser.parse_args()
seen = set()
dropped = 0
for line in options.source:
    if line in seen:
        dropped += 1
        continue
    seen.add(line)
    options.target.write(line)
print(f"{dropped} lines dropped", file=sys.stderr)
