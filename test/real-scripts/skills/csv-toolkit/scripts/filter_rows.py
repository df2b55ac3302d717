#!/usr/bin/env python3
"""Keep the rows of a CSV file that match a condition."""
import argparse
import csv
import sys


def parse_args():
    parser = argparse.ArgumentParser(description="Keep the rows of a CSV file that match a condition.")
    parser.add_argument("input", help="CSV file to read")
    parser.add_argument("--where", required=True, metavar="COLUMN=VALUE", help="the condition")
    parser.add_argument("-o", "--output", required=True, help="CSV file to write")
    return parser.parse_args()


def main():
    args = parse_args()
    column, _, value = args.where.partition("=")
    with open(args.input, newline="") as source:
        reader = csv.DictReader(source)
        fields = reader.fieldnames
        rows = [row for row in reader if row.get(column) == value]
    if not rows:
        print("no row matches", file=sys.stderr)
        return 1
    with open(args.output, "w", newline="") as target:
        writer = csv.DictWriter(target, fieldnames=fields)
        writer.writeheader()
        writer.writerows(rows)
    print(f"Wrote {len(rows)} rows to {args.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
