#!/usr/bin/env python3
"""Move JSON files that do not parse into a folder for bad ones."""
import json
import sys
from pathlib import Path


def is_broken(path: Path) -> bool:
    try:
        json.loads(path.read_text())
    except ValueError:
        return True
    return False


def main(argv):
    if len(argv) != 2:
        print("Usage: quarantine.py <folder>")
        return 2
    folder = Path(argv[1])
    bad = folder / "bad"
    for path in sorted(folder.glob("*.json")):
        if is_broken(path):
            bad.mkdir(exist_ok=True)
            path.rename(bad / path.name)
            print(f"moved {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
