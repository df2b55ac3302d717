#!/usr/bin/env python3
"""Put the rows of several CSV files into one."""
import argparse
import csv
import os

parser = argparse.ArgumentParser(description="Put the rows of several CSV files into one.")
parser.add_argument("files", nargs="+", help="CSV files with the same columns")
parser.add_argument("--output", default="merged.csv", help="where the result goes")
args = parser.parse_args()

rows, fields = [], []
for name in args.files:
    with open(name, newline="") as source:
        reader = csv.DictReader(source)
        for field in reader.fieldnames or []:
            if field not in fields:
                fields.append(field)
        for row in reader:
            row["source"] = os.path.basename(name)
            rows.append(row)
with open(args.output, "w", newline="") as target:
    writer = csv.DictWriter(target, fieldnames=[*fields, "source"])
    writer.writeheader()
    writer.writerows(rows)
print(f"merged {len(args.files)} files, {len(rows)} rows -> {args.output}")
