#!/usr/bin/env python3
"""Summarise a table: type, missing values, range and most frequent values of every column."""

import argparse
import csv
import json
import re
import sys
from collections import Counter

from table import Table, TableError, is_missing, tidy, to_markdown

MOST_DISTINCT = 10_000
DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$")


class Column:
    """What is known about a column so far."""

    def __init__(self, name):
        self.name = name
        self.missing = 0
        self.kinds = Counter()
        self.values = Counter()
        self.is_full = False
        self.total = 0
        self.low = None
        self.high = None
        self.first_date = None
        self.last_date = None

    def add(self, text, number):
        if is_missing(text):
            self.missing += 1
            return
        if number is not None:
            self.kinds["number"] += 1
            self.total += number
            self.low = number if self.low is None else min(self.low, number)
            self.high = number if self.high is None else max(self.high, number)
        elif DATE.match(text):
            self.kinds["date"] += 1
            self.first_date = text if self.first_date is None else min(self.first_date, text)
            self.last_date = text if self.last_date is None else max(self.last_date, text)
        else:
            self.kinds["text"] += 1
        if text in self.values or len(self.values) < MOST_DISTINCT:
            self.values[text] += 1
        else:
            self.is_full = True

    def describe(self, top):
        kind = next(iter(self.kinds)) if len(self.kinds) == 1 else ("text" if self.kinds else "empty")
        facts = {"name": self.name, "type": kind, "missing": self.missing, "distinct": len(self.values)}
        if self.is_full:
            facts["distinct_is_minimum"] = True
        if kind == "number":
            mean = self.total / self.kinds["number"]
            facts.update(min=tidy(self.low), max=tidy(self.high), mean=tidy(mean), sum=tidy(self.total))
        elif kind == "date":
            facts.update(min=self.first_date, max=self.last_date)
        facts["top"] = [{"value": value, "count": count} for value, count in self.values.most_common(top)]
        return facts


def summarize(args):
    table = Table(args)
    chosen = [table.index(name) for name in args.columns] if args.columns else range(len(table.columns))
    columns = {index: Column(table.columns[index]) for index in chosen}
    rows = 0
    for row in table.rows():
        rows += 1
        for index, column in columns.items():
            column.add(row[index].strip(), table.number(row[index]))
    return {"file": args.file, "rows": rows, "columns": [column.describe(args.top) for column in columns.values()]}


def render(summary):
    rows = []
    for column in summary["columns"]:
        top = ", ".join(f"{item['value']} ({item['count']})" for item in column["top"])
        rows.append({**{key: value for key, value in column.items() if key != "top"}, "top": top})
    return f"{summary['file']}: {summary['rows']} rows\n\n{to_markdown(rows)}"


def main():
    parser = argparse.ArgumentParser(description="Summarise a table, column by column.")
    parser.add_argument("file", help="the CSV or TSV file; - reads standard input")
    parser.add_argument("--delimiter", help="the character between cells; found by itself unless set")
    parser.add_argument("--encoding", default="utf-8-sig", help="the encoding of the file")
    parser.add_argument("--no-header", action="store_true", help="the first row is data")
    parser.add_argument("--decimal", choices=["point", "comma"], default="point", help="how fractions are written")
    parser.add_argument("--columns", action="append", metavar="NAME", help="only this column; may be given again")
    parser.add_argument("--top", type=int, default=5, metavar="N", help="how many frequent values to list")
    parser.add_argument("--format", choices=["json", "markdown"], default="json", help="how to answer")
    args = parser.parse_args()
    if args.top < 0:
        parser.error("--top must not be negative")
    try:
        summary = summarize(args)
    except (TableError, OSError, UnicodeError, csv.Error) as error:
        print(f"summarize: {args.file}: {error}", file=sys.stderr)
        return 1
    sys.stdout.reconfigure(encoding="utf-8")
    print(render(summary) if args.format == "markdown" else json.dumps(summary, ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
