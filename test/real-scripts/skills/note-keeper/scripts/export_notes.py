#!/usr/bin/env python3
"""Write all notes to a Markdown file."""
import argparse
import sqlite3
from pathlib import Path

parser = argparse.ArgumentParser(description="Write all notes to a Markdown file.")
parser.add_argument("--db", required=True, help="database file to read")
parser.add_argument("--out", type=Path, required=True, help="Markdown file to write")
args = parser.parse_args()
rows = sqlite3.connect(args.db).execute("SELECT text FROM notes ORDER BY id").fetchall()
args.out.write_text("".join(f"- {text}\n" for (text,) in rows))
print(f"{len(rows)} notes -> {args.out.name}")
