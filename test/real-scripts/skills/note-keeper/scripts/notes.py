#!/usr/bin/env python3
"""Keep short notes in a database."""
import argparse
import sqlite3
import sys


def connect(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT, tag TEXT)")
    return connection


def add(args):
    with connect(args.db) as db:
        cursor = db.execute("INSERT INTO notes (text, tag) VALUES (?, ?)", (args.text, args.tag))
    print(f"note {cursor.lastrowid} added")


def show(args):
    for number, text, tag in connect(args.db).execute("SELECT id, text, tag FROM notes ORDER BY id"):
        print(f"{number}. {text}" + (f" #{tag}" if tag else ""))


def search(args):
    rows = connect(args.db).execute("SELECT text FROM notes WHERE text LIKE ?", (f"%{args.word}%",)).fetchall()
    for (text,) in rows:
        print(text)
    sys.exit(0 if rows else 1)


def main():
    parser = argparse.ArgumentParser(description="Keep short notes in a database.")
    parser.add_argument("--db", default="notes.db", help="database file")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("add", help="keep a note")
    one.add_argument("text")
    one.add_argument("--tag", default="")
    one.set_defaults(run=add)
    two = commands.add_parser("list", help="show all notes")
    two.set_defaults(run=show)
    three = commands.add_parser("search", help="find notes by a word")
    three.add_argument("word")
    three.set_defaults(run=search)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
