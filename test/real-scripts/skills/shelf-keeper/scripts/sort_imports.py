#!/usr/bin/env python3
"""Sort the import lines at the top of Python files.

usage: sort_imports.py PATH [PATH ...]
"""
import sys
from pathlib import Path


def sort_file(path):
    lines = path.read_text().splitlines(keepends=True)
    head = [line for line in lines if line.startswith("import ")]
    rest = [line for line in lines if not line.startswith("import ")]
    path.write_text("".join(sorted(head) + rest))


for arg in sys.argv[1:]:
    target = Path(arg)
    for path in sorted(target.rglob("*.py")) if target.is_dir() else [target]:
        sort_file(path)
        print("sorted", path.name)
if len(sys.argv) < 2:
    sys.exit(__doc__)
