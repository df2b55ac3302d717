#!/usr/bin/env python3
"""Make a table of contents for a Markdown file."""
import argparse
import re
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description="Make a table of contents for a Markdown file.")
    parser.add_argument("file", type=Path, help="Markdown file")
    parser.add_argument("-i", "--in-place", action="store_true", help="change the file instead of printing")
    args = parser.parse_args()
    text = args.file.read_text()
    toc = "\n".join(
        "  " * (len(level) - 2) + f"- {title}" for level, title in re.findall(r"^(#{2,3}) (.+)$", text, re.M)
    )
    if args.in_place:
        args.file.write_text(text.replace("<!-- toc -->", toc))
        print("1 file updated")
    else:
        print(toc)


if __name__ == "__main__":
    main()
