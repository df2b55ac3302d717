#!/usr/bin/env python3
"""Move the files of a folder into one folder for each kind."""
import os
import shutil
import sys

KINDS = {".md": "texts", ".txt": "texts", ".png": "pictures", ".csv": "tables"}


def main():
    if len(sys.argv) != 2:
        sys.exit("Usage: sort_by_kind.py <folder>")
    folder = sys.argv[1]
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            continue
        kind = KINDS.get(os.path.splitext(name)[1], "other")
        os.makedirs(os.path.join(folder, kind), exist_ok=True)
        shutil.move(path, os.path.join(folder, kind, name))
        print(f"{name} -> {kind}/")


if __name__ == "__main__":
    main()
