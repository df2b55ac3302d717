#!/usr/bin/env python3
"""
Show the front matter of a Markdown file.

Usage:
    frontmatter.py <file.md | ->
"""
import sys


def read(name):
    if name == "-":
        return sys.stdin.read()
    with open(name, encoding="utf-8") as fh:
        return fh.read()


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        sys.exit(1)
    text = read(sys.argv[1])
    if not text.startswith("---\n"):
        sys.exit("no front matter")
    print(text.split("---\n")[1].strip())


main()
