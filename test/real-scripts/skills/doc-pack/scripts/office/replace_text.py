#!/usr/bin/env python3
"""Replace a word in every part of a document, in place.

Usage: replace_text.py <file> <old> <new>
"""
import shutil
import sys
import tempfile
import zipfile

file, old, new = sys.argv[1:4]
count = 0
with tempfile.NamedTemporaryFile(suffix=".pack", delete=False) as copy:
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(copy, "w") as target:
        for item in source.infolist():
            text = source.read(item).decode()
            count += text.count(old)
            target.writestr(zipfile.ZipInfo(item.filename, (1990, 1, 1, 0, 0, 0)), text.replace(old, new))
shutil.move(copy.name, file)
print(f"{count} replaced")
