#!/usr/bin/env python3
"""Make a slug of the text on standard input."""
import re
import sys

text = sys.stdin.read()
print(re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-"))
