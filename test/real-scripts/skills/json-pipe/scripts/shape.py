#!/usr/bin/env python3
"""Say what kind of JSON comes in: a list of how many, or an object with which keys."""
import json
import sys


def main():
    doc = json.loads(sys.stdin.read())
    if isinstance(doc, list):
        print(f"list of {len(doc)}")
    elif isinstance(doc, dict):
        print("object with " + ", ".join(sorted(doc)))
    else:
        print(type(doc).__name__)


main()
