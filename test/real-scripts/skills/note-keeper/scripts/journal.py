#!/usr/bin/env python3
"""Append a line to the journal in the home directory.

Usage: journal.py <text>
"""
import sys
from pathlib import Path

JOURNAL = Path.home() / ".journal" / "journal.txt"

if len(sys.argv) != 2:
    print("Usage: journal.py <text>", file=sys.stderr)
    sys.exit(1)
JOURNAL.parent.mkdir(parents=True, exist_ok=True)
with JOURNAL.open("a") as journal:
    journal.write(sys.argv[1] + "\n")
print("Journal entry saved.")
