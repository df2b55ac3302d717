#!/usr/bin/env python3
"""Tell the facts about a PDF as JSON: pages, title, author, dates, whether it is encrypted and has text."""

import argparse
import json
import re
import sys
from pathlib import Path

from pdf_reader import Document, PdfError
from pdf_text import page_text

FIELDS = {
    "title": "Title",
    "author": "Author",
    "subject": "Subject",
    "keywords": "Keywords",
    "creator": "Creator",
    "producer": "Producer",
}


def to_text(value):
    if not isinstance(value, bytes):
        return None
    if value.startswith(b"\xfe\xff"):
        return value[2:].decode("utf-16-be", "replace")
    if value.startswith(b"\xef\xbb\xbf"):
        return value[3:].decode("utf-8", "replace")
    return value.decode("cp1252", "replace")


def to_date(value):
    """`D:20240131120000+01'00'` as `2024-01-31T12:00:00`."""
    match = re.match(r"D?:?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?", to_text(value) or "")
    if not match:
        return None
    year, month, day, hour, minute, second = (part or fallback for part, fallback in zip(match.groups(), "011000"))
    return f"{int(year):04}-{int(month):02}-{int(day):02}T{int(hour):02}:{int(minute):02}:{int(second):02}"


def describe(path, sample):
    document = Document(path.read_bytes())
    facts = {"file": str(path), "bytes": len(document.data), "version": document.version}
    facts["encrypted"] = document.encrypted
    if document.encrypted:
        return {**facts, "pages": None, "pages_with_text": None, "warnings": []}
    pages = document.pages()
    info = document.get(document.trailer.get("Info"))
    info = info if isinstance(info, dict) else {}
    for name, key in FIELDS.items():
        facts[name] = to_text(document.get(info.get(key)))
    facts["created"] = to_date(document.get(info.get("CreationDate")))
    facts["modified"] = to_date(document.get(info.get("ModDate")))
    looked_at = pages[:sample]
    facts["pages"] = len(pages)
    facts["pages_looked_at"] = len(looked_at)
    facts["pages_with_text"] = sum(1 for page in looked_at if page_text(document, page).strip())
    facts["warnings"] = document.warnings
    return facts


def main():
    parser = argparse.ArgumentParser(description="Tell the facts about a PDF as JSON.")
    parser.add_argument("pdf", type=Path, help="the PDF file")
    parser.add_argument("--sample", type=int, default=20, metavar="N", help="look for text on the first N pages")
    args = parser.parse_args()
    try:
        facts = describe(args.pdf, max(0, args.sample))
    except (PdfError, OSError) as error:
        print(f"pdf_info: {args.pdf}: {error}", file=sys.stderr)
        return 1
    sys.stdout.reconfigure(encoding="utf-8")
    print(json.dumps(facts, ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
