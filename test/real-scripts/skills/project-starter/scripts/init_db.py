#!/usr/bin/env python3
"""Make a database with the usual tables."""
import sqlite3
import sys

db_path = sys.argv[1] if len(sys.argv) > 1 else "app.db"
connection = sqlite3.connect(db_path)
connection.executescript("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE posts (id INTEGER, body TEXT);")
connection.commit()
connection.close()
print("Database initialized")
