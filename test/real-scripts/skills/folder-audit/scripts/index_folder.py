#!/usr/bin/env python3
"""List the files of a folder with their sizes."""
import argparse
import json
import os


def main():
    parser = argparse.ArgumentParser(description="List the files of a folder with their sizes.")
    parser.add_argument("directory", help="folder to look through")
    parser.add_argument("--ext", action="append", default=[], help="only files that end so; may be repeated")
    parser.add_argument("--index", help="write the list to this JSON file instead")
    args = parser.parse_args()
    found = []
    for root, folders, names in os.walk(args.directory):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(root, name)
            if not args.ext or os.path.splitext(name)[1] in args.ext:
                found.append({"path": os.path.relpath(path, args.directory), "bytes": os.path.getsize(path)})
    if args.index:
        with open(args.index, "w") as target:
            json.dump(found, target, indent=1)
        print(f"{len(found)} files in {args.index}")
    else:
        print(json.dumps({"filesScanned": len(found), "files": found}, indent=2))


if __name__ == "__main__":
    main()
