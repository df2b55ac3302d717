#!/usr/bin/env python3
"""Write one CSV file for each value of a column."""
import argparse
import csv
from collections import defaultdict
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file", type=Path, help="CSV file")
parser.add_argument("--column", required=True, help="the column whose values name the files")
parser.add_argument("--out-dir", type=Path, default=None, help="folder for the parts (default: next to the input)")
args = parser.parse_args()
out = args.out_dir or args.file.parent
out.mkdir(parents=True, exist_ok=True)
parts = defaultdict(list)
with args.file.open(newline="") as source:
    reader = csv.DictReader(source)
    for row in reader:
        parts[row[args.column]].append(row)
for value, rows in sorted(parts.items()):
    path = out / f"{args.file.stem}-{value}.csv"
    with path.open("w", newline="") as target:
        writer = csv.DictWriter(target, fieldnames=reader.fieldnames)
        writer.writeheader()
        writer.writerows(rows)
    print(f"{path}: {len(rows)}")
