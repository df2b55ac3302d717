#!/usr/bin/env python3
"""Show the numbers of a JSON file as a table.

Usage: table.py <metrics.json>
"""
import json
import sys

from scripts.formatting import table


def main() -> int:
    if len(sys.argv) != 2:
        print("Usage: table.py <metrics.json>", file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as source:
        metrics = json.load(source)
    print(table(sorted(metrics.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
