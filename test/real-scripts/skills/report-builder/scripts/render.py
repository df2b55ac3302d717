#!/usr/bin/env python3
"""Make an HTML page of a Markdown report.

Usage: render.py <report> <output>
"""
import html
import pathlib
import sys

TEMPLATE = pathlib.Path(__file__).resolve().parent.parent / "assets" / "page.html"


def main():
    if len(sys.argv) != 3:
        sys.exit("Usage: render.py <report> <output>")
    source, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    lines = source.read_text().splitlines()
    title = next((line[2:] for line in lines if line.startswith("# ")), source.stem)
    body = "\n".join(f"<p>{html.escape(line)}</p>" for line in lines if line and not line.startswith("# "))
    target.write_text(TEMPLATE.read_text().replace("{{title}}", title).replace("{{body}}", body))
    print(f"wrote {target} ({target.stat().st_size} bytes)")


main()
