#!/usr/bin/env python3
"""Write the title of each page of a folder into a folder beside the pages."""
import sys
from pathlib import Path

if len(sys.argv) < 2:
    sys.exit("Usage: collect_titles.py <pages>")

pages = Path(sys.argv[1])
target = pages / "titles"
target.mkdir(exist_ok=True)
for page in sorted(pages.glob("*.html")):
    text = page.read_text()
    title = text.partition("<title>")[2].partition("</title>")[0]
    (target / f"{page.stem}.txt").write_text(title + "\n")
    print(page.stem, "->", title)
