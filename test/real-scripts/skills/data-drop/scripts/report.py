#!/usr/bin/env python3
"""Count the files of a folder by their ending, and write report.json."""
import argparse
import collections
import json
import pathlib

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", type=pathlib.Path)
args = parser.parse_args()
counts = collections.Counter(path.suffix for path in args.folder.iterdir() if path.is_file())
pathlib.Path("report.json").write_text(json.dumps(dict(sorted(counts.items()))))
print("report.json:", sum(counts.values()), "files")
