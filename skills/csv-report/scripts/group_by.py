#!/usr/bin/env python3
"""Group the rows of a table and add up, average, count or find the extremes of columns."""

import argparse
import csv
import json
import sys

from table import Table, TableError, is_missing, tidy, to_markdown

FIGURES = ["sum", "mean", "min", "max"]
MOST_GROUPS = 100_000


class Group:
    """The figures of one group."""

    def __init__(self, figures):
        self.rows = 0
        self.skipped = 0
        self.numbers = {column: [0, 0, None, None] for _, column in figures}

    def add(self, column, text, number):
        if number is None:
            self.skipped += 0 if is_missing(text) else 1
            return
        state = self.numbers[column]
        state[0] += 1
        state[1] += number
        state[2] = number if state[2] is None else min(state[2], number)
        state[3] = number if state[3] is None else max(state[3], number)

    def figure(self, kind, column):
        count, total, low, high = self.numbers[column]
        if count == 0:
            return None
        return tidy({"sum": total, "mean": total / count, "min": low, "max": high}[kind])


def parse_condition(table, text):
    name, mark, value = text.partition("=")
    if not mark:
        raise TableError(f"cannot use --where {text}: write COLUMN=VALUE or COLUMN!=VALUE")
    wanted = not name.endswith("!")
    return table.index(name.rstrip("!").strip()), value.strip(), wanted


def group_rows(args):
    table = Table(args)
    by = [table.index(name) for name in args.by]
    figures = [(kind, column) for kind in FIGURES for column in getattr(args, kind) or []]
    positions = {column: table.index(column) for _, column in figures}
    conditions = [parse_condition(table, text) for text in args.where or []]
    groups = {}
    for row in table.rows():
        if any((row[index].strip() == value) is not wanted for index, value, wanted in conditions):
            continue
        key = tuple(row[index].strip() for index in by)
        if key not in groups:
            if len(groups) >= MOST_GROUPS:
                raise TableError(f"there are more than {MOST_GROUPS} groups; group by a column with fewer values")
            groups[key] = Group(figures)
        group = groups[key]
        group.rows += 1
        for column, index in positions.items():
            group.add(column, row[index], table.number(row[index]))
    return [describe(key, group, args, figures) for key, group in groups.items()]


def describe(key, group, args, figures):
    facts = dict(zip(args.by, key))
    facts["rows"] = group.rows
    for kind, column in figures:
        facts[f"{kind}_{column}"] = group.figure(kind, column)
    facts["skipped"] = group.skipped
    return facts


def sort_rows(rows, name):
    if name is None:
        return sorted(rows, key=lambda row: -row["rows"])
    if rows and name not in rows[0]:
        raise TableError(f'cannot use --sort {name}: the fields are {", ".join(rows[0])}')
    numeric = [row for row in rows if isinstance(row[name], (int, float))]
    others = [row for row in rows if not isinstance(row[name], (int, float))]
    return sorted(numeric, key=lambda row: -row[name]) + sorted(others, key=lambda row: str(row[name]))


def main():
    parser = argparse.ArgumentParser(description="Group the rows of a table and calculate figures for each group.")
    parser.add_argument("file", help="the CSV or TSV file; - reads standard input")
    parser.add_argument("--delimiter", help="the character between cells; found by itself unless set")
    parser.add_argument("--encoding", default="utf-8-sig", help="the encoding of the file")
    parser.add_argument("--no-header", action="store_true", help="the first row is data")
    parser.add_argument("--decimal", choices=["point", "comma"], default="point", help="how fractions are written")
    parser.add_argument("--by", action="append", required=True, metavar="COLUMN", help="group by it; may be repeated")
    parser.add_argument("--sum", action="append", metavar="COLUMN", help="add this column up")
    parser.add_argument("--mean", action="append", metavar="COLUMN", help="average this column")
    parser.add_argument("--min", action="append", metavar="COLUMN", help="find its smallest number")
    parser.add_argument("--max", action="append", metavar="COLUMN", help="find its largest number")
    parser.add_argument("--where", action="append", metavar="CONDITION", help="COLUMN=VALUE or COLUMN!=VALUE; all must hold")
    parser.add_argument("--sort", metavar="FIELD", help="a field of the answer, the largest first (rows unless set)")
    parser.add_argument("--limit", type=int, default=100, metavar="N", help="how many groups to answer with")
    parser.add_argument("--format", choices=["json", "markdown"], default="json", help="how to answer")
    args = parser.parse_args()
    try:
        rows = sort_rows(group_rows(args), args.sort)
    except (TableError, OSError, UnicodeError, csv.Error) as error:
        print(f"group_by: {args.file}: {error}", file=sys.stderr)
        return 1
    shown = rows[: max(0, args.limit)]
    sys.stdout.reconfigure(encoding="utf-8")
    if args.format == "markdown":
        print(to_markdown(shown))
    else:
        print(json.dumps({"groups": len(rows), "shown": len(shown), "result": shown}, ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
