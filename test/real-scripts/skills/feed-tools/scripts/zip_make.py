#!/usr/bin/env python3
"""Make a zip archive of files.

Usage: zip_make.py <archive> <file>...
"""
import os
import sys
import zipfile

archive, *files = sys.argv[1:]
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
    for name in files:
        target.writestr(zipfile.ZipInfo(os.path.basename(name)), open(name, "rb").read())
print(f"{len(files)} files in the archive")
