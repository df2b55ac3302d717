#!/usr/bin/env python3
"""Select events of one kind."""
import json
import sys


def main():
    payload = json.load(sys.stdin)
    events = payload.get("events", [])
    kind = payload.get("kind")
    chosen = [event for event in events if kind is None or event.get("kind") == kind]
    json.dump({"count": len(chosen), "events": chosen}, sys.stdout)


if __name__ == "__main__":
    main()
