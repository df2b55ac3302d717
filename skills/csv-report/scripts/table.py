"""Reads tables row by row: finds the delimiter, names the columns, understands numbers."""

import csv
import re
import sys

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
MISSING = {"", "na", "n/a", "null", "none", "-"}
NUMBER = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$")


class TableError(Exception):
    """The table cannot be used; the message says why."""


class Table:
    """The rows of a file, one after the other."""

    def __init__(self, args):
        # Fields may be long; the limit of the module is a few kilobytes.
        csv.field_size_limit(10_000_000)
        self.decimal = args.decimal
        self._file = self._open(args)
        sample = self._file.read(64 * 1024)
        self._rows = csv.reader(_chained(sample, self._file), delimiter=_delimiter(args.delimiter, sample))
        self._first = next((row for row in self._rows if row), None)
        if self._first is None:
            raise TableError("the file is empty")
        if args.no_header:
            self.columns = [f"column_{index + 1}" for index in range(len(self._first))]
        else:
            self.columns = _unique([name.strip() for name in self._first])
            self._first = None

    @staticmethod
    def _open(args):
        try:
            if args.file == "-":
                sys.stdin.reconfigure(encoding=args.encoding, newline="")
                return sys.stdin
            return open(args.file, encoding=args.encoding, newline="")
        except LookupError:
            raise TableError(f"there is no encoding {args.encoding}") from None

    def rows(self):
        """Each row as a list with one cell for each column."""
        width = len(self.columns)
        if self._first is not None:
            yield self._first
        for row in self._rows:
            if row:
                yield (row + [""] * width)[:width]

    def index(self, name):
        if name not in self.columns:
            raise TableError(f'there is no column "{name}"; the columns are {", ".join(self.columns)}')
        return self.columns.index(name)

    def number(self, text):
        """The number that a cell says; None if it is no number."""
        plain = text.strip().replace("\u00a0", "")
        if self.decimal == "comma":
            plain = plain.replace(".", "").replace(",", ".") if not re.search(r",.*[.,]", plain) else "?"
        if not NUMBER.match(plain):
            return None
        value = float(plain.replace(",", ""))
        return int(value) if value.is_integer() and abs(value) < 2**53 else value


def is_missing(text):
    return text.strip().lower() in MISSING


def tidy(value):
    """A number without the dust of binary fractions."""
    if isinstance(value, float):
        value = round(value, 10)
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value


def to_markdown(rows):
    """Dictionaries as a Markdown table."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = ["| " + " | ".join(names) + " |", "| " + " | ".join("---" for _ in names) + " |"]
    for row in rows:
        cells = [str(row.get(name, "")).replace("|", "\\|").replace("\n", " ") for name in names]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _delimiter(given, sample):
    if given:
        delimiter = DELIMITERS.get(given, "\t" if given == "\\t" else given)
        if len(delimiter) != 1:
            raise TableError(f"cannot use --delimiter {given}: it must be one character")
        return delimiter
    lines = [line for line in sample.splitlines()[:20] if line.strip()]
    counts = {mark: [line.count(mark) for line in lines] for mark in DELIMITERS.values()}
    # The right one occurs in every line, and equally often.
    return max(counts, key=lambda mark: (min(counts[mark], default=0), -len(set(counts[mark])), mark == ","))


def _chained(sample, file):
    """The lines of a file whose beginning was read already."""
    *lines, last = sample.splitlines(keepends=True) or [""]
    yield from lines
    yield last + file.readline()
    yield from file


def _unique(names):
    seen, out = {}, []
    for position, name in enumerate(names):
        name = name or f"column_{position + 1}"
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return out
