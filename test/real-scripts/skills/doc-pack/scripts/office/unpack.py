#!/usr/bin/env python3
"""Unpack a document into a folder with readable XML.

Usage: unpack.py <file> <folder>
"""
import sys
import xml.dom.minidom
import zipfile
from pathlib import Path


def main():
    if len(sys.argv) != 3:
        print("Usage: unpack.py <file> <folder>", file=sys.stderr)
        sys.exit(1)
    source, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(source) as archive:
        archive.extractall(folder)
        names = archive.namelist()
    for path in folder.rglob("*.xml"):
        path.write_text(xml.dom.minidom.parseString(path.read_text()).toprettyxml(indent=" "))
    print(f"Unpacked {len(names)} files to {folder.name}")


main()
