#!/usr/bin/env python3
"""Group the objects of a JSON array that comes on stdin."""
import argparse
import collections
import json
import sys

ap = argparse.ArgumentParser(description=__doc__)
ap.add_argument("--by", required=True, help="key to group by")
a = ap.parse_args()
groups = collections.defaultdict(list)
for entry in json.load(sys.stdin):
    groups[str(entry.get(a.by))].append(entry)
for name in sorted(groups):
    print(f"{name}: {len(groups[name])}")
