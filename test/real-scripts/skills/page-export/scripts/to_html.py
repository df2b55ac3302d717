#!/usr/bin/env python3
"""Write a page to a temporary file and print its path.

Usage: to_html.py <notes>
"""
import html
import sys
import tempfile
from pathlib import Path

notes = Path(sys.argv[1]).read_text()
page = Path(tempfile.gettempdir()) / "page-export.html"
page.write_text(f"<pre>{html.escape(notes)}</pre>\n")
print(page)
