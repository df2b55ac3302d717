#!/usr/bin/env python3
"""Extract the text of a PDF, page by page."""

import argparse
import json
import re
import sys
from pathlib import Path

from pdf_reader import Document, PdfError
from pdf_text import page_text

try:
    import kitbag
except ImportError:
    kitbag = None

FORMATS = ["text", "json"]


def parse_pages(text, count):
    """The page numbers of a range like 1-3,7."""
    if text is None:
        return list(range(1, count + 1))
    chosen = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})?\s*)?", part)
        if not match:
            raise PdfError(f"cannot use --pages {text}: write numbers and ranges, like 1-3,7 or 5-")
        first = int(match.group(1))
        last = int(match.group(2)) if match.group(2) else (count if "-" in part else first)
        if not 1 <= first <= last <= count:
            raise PdfError(f"cannot use --pages {text}: the document has pages 1 to {count}")
        chosen.extend(range(first, last + 1))
    return chosen


def extract(path, pages):
    """The text of the chosen pages, and what could not be read."""
    document = Document(path.read_bytes())
    if document.encrypted:
        raise PdfError("the document is encrypted; ask for a copy without a password")
    found = document.pages()
    if not found:
        raise PdfError("the document has no pages")
    texts = []
    chosen = parse_pages(pages, len(found))
    for done, number in enumerate(chosen):
        tell_progress(done, len(chosen))
        text = page_text(document, found[number - 1])
        if not text.strip():
            document.warn(f"no text on page {number}; it may be a picture of a page")
        texts.append({"page": number, "text": text})
    return texts, document.warnings


def tell_progress(done, total):
    """Shows how far it is where somebody watches; by hand nobody does."""
    if kitbag is not None and kitbag.available():
        kitbag.progress("reading pages", done=done, total=total)


def main():
    parser = argparse.ArgumentParser(description="Extract the text of a PDF, page by page.")
    parser.add_argument("pdf", type=Path, help="the PDF file")
    parser.add_argument("--pages", metavar="RANGE", help="only these pages, like 1-3,7 or 5-")
    parser.add_argument("--format", choices=FORMATS, default="text", help="plain text, or JSON with page numbers")
    args = parser.parse_args()

    try:
        pages, warnings = extract(args.pdf, args.pages)
    except (PdfError, OSError) as error:
        print(f"extract_text: {args.pdf}: {error}", file=sys.stderr)
        return 1

    if args.format == "json":
        result = json.dumps({"pages": pages, "warnings": warnings}, ensure_ascii=False, indent=2)
    else:
        result = "\n\f\n".join(page["text"] for page in pages)
        for warning in warnings:
            print(f"extract_text: warning: {warning}", file=sys.stderr)
    sys.stdout.reconfigure(encoding="utf-8")
    print(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
