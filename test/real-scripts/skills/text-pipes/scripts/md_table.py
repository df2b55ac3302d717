#!/usr/bin/env python3
"""Turn CSV into a Markdown table."""
import argparse
import csv
import sys

p = argparse.ArgumentParser(description=__doc__)
p.add_argument("-i", "--input", help="CSV file (default: stdin)")
p.add_argument("--align", choices=["left", "right"], default="left")
args = p.parse_args()
source = open(args.input) if args.input else sys.stdin
rows = list(csv.reader(source))
mark = "---" if args.align == "left" else "---:"
print("| " + " | ".join(rows[0]) + " |")
print("|" + f" {mark} |" * len(rows[0]))
for row in rows[1:]:
    print("| " + " | ".join(row) + " |")
