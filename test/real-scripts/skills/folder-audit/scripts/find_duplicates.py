#!/usr/bin/env python3
"""Find files with the same content.

Usage: find_duplicates.py <directory>
"""
import hashlib
import sys
from collections import defaultdict
from pathlib import Path

root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
groups = defaultdict(list)
for path in sorted(root.rglob("*")):
    if path.is_file():
        groups[hashlib.sha256(path.read_bytes()).hexdigest()].append(path.relative_to(root).as_posix())
copies = [names for names in groups.values() if len(names) > 1]
for names in copies:
    print(" = ".join(names))
print(f"{len(copies)} groups of duplicates")
