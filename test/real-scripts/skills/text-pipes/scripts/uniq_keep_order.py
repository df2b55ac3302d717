#!/usr/bin/env python3
"""Drop lines that were there before. Reads stdin, writes stdout."""
import sys

seen = set()
for line in sys.stdin:
    key = line.rstrip("\n")
    if key not in seen:
        seen.add(key)
        print(key)
