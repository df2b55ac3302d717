#!/usr/bin/env python3
import argparse
from pathlib import Path

cli = argparse.ArgumentParser(description="Drop empty lines of files, in place.")
cli.add_argument("paths", nargs="+", type=Path, metavar="FILE")
options = cli.parse_args()

for path in options.paths:
    lines = path.read_text().splitlines()
    kept = [line for line in lines if line.strip()]
    path.write_text("\n".join(kept) + "\n")
    print(f"{path.name}: {len(lines) - len(kept)} dropped")
