#!/usr/bin/env python3
"""Check that the XML files of an unpacked document are well-formed."""
import argparse
import xml.etree.ElementTree as ElementTree
from pathlib import Path

parser = argparse.ArgumentParser(description="Check that the XML files of an unpacked document are well-formed.")
parser.add_argument("folder", help="folder of the unpacked document")
parser.add_argument("--strict", action="store_true", help="fail if there is no XML at all")
args = parser.parse_args()
files = sorted(Path(args.folder).glob("**/*.xml"))
failed = 0
for file in files:
    try:
        ElementTree.parse(file)
    except ElementTree.ParseError as error:
        failed += 1
        print(f"{file.name}: {error}")
print(f"{len(files)} files, {failed} failed")
raise SystemExit(1 if failed or (args.strict and not files) else 0)
