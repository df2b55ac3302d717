#!/usr/bin/env python3
"""List the names in a zip archive.

Usage: zip_list.py <archive>
"""
import sys
import zipfile

if len(sys.argv) != 2:
    sys.exit("Usage: zip_list.py <archive>")
with zipfile.ZipFile(sys.argv[1]) as archive:
    for info in archive.infolist():
        print(f"{info.file_size:>6} {info.filename}")
