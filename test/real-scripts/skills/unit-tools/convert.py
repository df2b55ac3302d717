#!/usr/bin/env python3
"""Convert a value from one unit to another.

Usage: convert.py <value> <from> <to>
"""
import json
import os
import sys

if len(sys.argv) != 4:
    print(__doc__.strip().splitlines()[-1], file=sys.stderr)
    sys.exit(2)
value, source, target = float(sys.argv[1]), sys.argv[2], sys.argv[3]
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "units.json")) as table:
    base = {unit["symbol"]: unit["base"] for unit in json.load(table)}
print(json.dumps({"value": value * base[source] / base[target], "unit": target}))
