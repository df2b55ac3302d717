#!/usr/bin/env python3
"""Print JSON objects from stdin as a table."""
import argparse
import json
import sys


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", required=True, help="comma separated names")
    parser.add_argument("--sep", default="\t")
    options = parser.parse_args()
    columns = options.columns.split(",")
    rows = json.load(sys.stdin)
    print(options.sep.join(columns))
    for row in rows:
        print(options.sep.join(str(row.get(c, "")) for c in columns))


main()
