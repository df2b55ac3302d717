#!/usr/bin/env python3
"""Load a CSV file into a table of an SQLite database."""
import argparse
import csv
import sqlite3


def load(csv_file, database, table):
    with open(csv_file, newline="") as source:
        header, *rows = list(csv.reader(source))
    connection = sqlite3.connect(database)
    columns = ", ".join(f'"{name}" TEXT' for name in header)
    connection.execute(f'CREATE TABLE IF NOT EXISTS "{table}" ({columns})')
    marks = ", ".join("?" for _ in header)
    connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)
    connection.commit()
    (count,) = connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()
    connection.close()
    return count


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv_file", help="table to load")
    parser.add_argument("database", help="SQLite file; it is made if it is not there")
    parser.add_argument("--table", default="data")
    args = parser.parse_args()
    print(f"{load(args.csv_file, args.database, args.table)} rows in {args.table}")
