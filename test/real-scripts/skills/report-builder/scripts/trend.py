#!/usr/bin/env python3
"""Compare the numbers with those of last time."""
import argparse
import json
import os

parser = argparse.ArgumentParser(description="Compare the numbers with those of last time.")
parser.add_argument("metrics", help="JSON file with numbers by name")
parser.add_argument("--save", action="store_true", help="remember the numbers for next time")
args = parser.parse_args()
memory = os.path.splitext(args.metrics)[0] + ".last.json"
with open(args.metrics) as source:
    now = json.load(source)
before = {}
if os.path.exists(memory):
    with open(memory) as source:
        before = json.load(source)
for name in sorted(now):
    change = "new" if name not in before else f"{now[name] - before[name]:+g}"
    print(f"{name}: {now[name]} ({change})")
if args.save:
    with open(memory, "w") as target:
        json.dump(now, target)
    print(f"remembered in {memory}")
