#!/usr/bin/env python3
"""Count rows and add up the numeric columns of a CSV file."""
import argparse
import csv
import json
from collections import defaultdict
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="CSV file with a header line")
    parser.add_argument("--by", help="group by this column")
    args = parser.parse_args()
    groups = defaultdict(lambda: {"rows": 0, "sum": 0.0})
    with args.file.open(newline="") as source:
        for row in csv.DictReader(source):
            group = groups[row[args.by] if args.by else "all"]
            group["rows"] += 1
            group["sum"] += sum(float(v) for v in row.values() if v.replace(".", "", 1).isdigit())
    print(json.dumps(dict(groups), indent=2, sort_keys=True))


if __name__ == "__main__":
    main()
