#!/usr/bin/env python3
"""Replace the includes of a Markdown file by the files beside it.

Usage: inline.py <file>
"""
import re
import sys
from pathlib import Path

path = Path(sys.argv[1])
count = 0


def include(match):
    global count
    part = path.parent / match.group(1).strip()
    if not part.exists():
        return match.group(0)
    count += 1
    return part.read_text().strip()


print(re.sub(r"\{\{include:([^}]+)\}\}", include, path.read_text()).strip())
print(f"{count} files inlined")
