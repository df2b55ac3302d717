#!/usr/bin/env python3
"""List TODO comments."""
import argparse
import glob
import os

p = argparse.ArgumentParser(description="List TODO comments.")
p.add_argument("path", help="folder of the sources")
p.add_argument("--pattern", default="**/*", help="which files, as a glob below the folder")
a = p.parse_args()
found = 0
for name in sorted(glob.glob(os.path.join(a.path, a.pattern), recursive=True)):
    if not os.path.isfile(name):
        continue
    with open(name, errors="replace") as source:
        for number, line in enumerate(source, 1):
            if "TODO" in line:
                found += 1
                print(f"{os.path.relpath(name, a.path)}:{number}: {line.strip()}")
print(f"{found} found")
