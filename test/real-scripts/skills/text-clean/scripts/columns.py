#!/usr/bin/env python3
"""Line up the words of a text in columns."""
import argparse
import sys

parser = argparse.ArgumentParser(description="Line up the words of a text in columns.")
parser.add_argument("--input", help="text file (default: standard input)")
parser.add_argument("--output", help="where to write (default: standard output)")
args = parser.parse_args()
text = open(args.input).read() if args.input else sys.stdin.read()
rows = [line.split() for line in text.splitlines() if line.strip()]
widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(max(map(len, rows)))]
result = "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows) + "\n"
if args.output:
    with open(args.output, "w") as target:
        target.write(result)
    print(f"{len(rows)} rows written")
else:
    sys.stdout.write(result)
