#!/usr/bin/env python3
"""Pack a folder into a document.

Usage: pack.py <folder> <file>
"""
import sys
import zipfile
from pathlib import Path

if len(sys.argv) != 3:
    sys.exit("Usage: pack.py <folder> <file>")
folder, target = Path(sys.argv[1]), sys.argv[2]
paths = sorted(path for path in folder.rglob("*") if path.is_file())
with zipfile.ZipFile(target, "w") as archive:
    for path in paths:
        info = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (1990, 1, 1, 0, 0, 0))
        archive.writestr(info, path.read_bytes())
print(f"Packed {len(paths)} files")
