#!/usr/bin/env python3
import argparse
import pathlib

parser = argparse.ArgumentParser(description="Write the first lines of a page next to it.")
parser.add_argument("page", type=pathlib.Path)
parser.add_argument("--lines", type=int, default=1)
args = parser.parse_args()

body = args.page.read_text().split("---\n")[-1].strip().splitlines()
target = args.page.with_suffix(".excerpt.txt")
target.write_text("\n".join(body[: args.lines]) + "\n")
print(f"{target.name}: {args.lines} lines")
