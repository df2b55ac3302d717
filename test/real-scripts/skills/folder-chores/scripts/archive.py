#!/usr/bin/env python3
"""Move all but the newest exports of a folder into its archive."""
import argparse
import os
import shutil


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="where the exports are")
    parser.add_argument("--keep", type=int, default=3, help="how many stay")
    args = parser.parse_args()
    names = sorted(n for n in os.listdir(args.folder) if n.startswith("export-"))
    archive = os.path.join(args.folder, "archive")
    os.makedirs(archive, exist_ok=True)
    for name in names[: -args.keep]:
        shutil.move(os.path.join(args.folder, name), os.path.join(archive, name))
        print("archived", name)


if __name__ == "__main__":
    main()
