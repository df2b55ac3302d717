#!/usr/bin/env python3
"""
Keep the events of a JSON Lines stream that have a value.

Usage: jsonl_filter.py <key=value>
"""
import json
import sys

if len(sys.argv) != 2:
    print(__doc__.strip(), file=sys.stderr)
    sys.exit(2)
key, _, value = sys.argv[1].partition("=")
for line in sys.stdin:
    event = json.loads(line)
    if str(event.get(key)) == value:
        print(json.dumps(event))
