#!/usr/bin/env python3
import argparse
import glob
import os


def fix(path):
    with open(path) as source:
        first, *rest = source.read().splitlines()
    header = ",".join(name.strip().lower().replace(" ", "_") for name in first.split(","))
    with open(path, "w") as target:
        target.write("\n".join([header, *rest]) + "\n")
    return header


def main():
    parser = argparse.ArgumentParser(description="Fix the header lines of CSV files.")
    parser.add_argument("--root", required=True, help="folder with the CSV files")
    parser.add_argument("--recursive", action="store_true")
    args = parser.parse_args()
    pattern = os.path.join(args.root, "**" if args.recursive else "", "*.csv")
    for path in sorted(glob.glob(pattern, recursive=args.recursive)):
        print(os.path.basename(path), fix(path))


main()
