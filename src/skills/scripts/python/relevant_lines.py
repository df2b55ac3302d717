"""Tells which lines of a script can have a part in building its parser."""

import ast
import re
from bisect import bisect_left

CALLS = (
    "ArgumentParser",
    "OptionParser",
    "add_argument",
    "add_option",
    "add_argument_group",
    "add_mutually_exclusive_group",
    "add_parser",
    "add_subparsers",
    "parse_args",
    "parse_known_args",
    "parse_intermixed_args",
)

WORDS = re.compile(r"([A-Za-z_]\w*)\s*\(")
MAKES = re.compile(r"([A-Za-z_]\w*)\s*(?::[^=]*)?=.*(?:ArgumentParser|add_parser|add_subparsers|add_argument_group|add_mutually_exclusive_group)\s*\(")


def relevant_lines(statements, source, calls=()):
    """The numbers of the lines that can matter, and the names of the functions that have such lines.

    They are calls of argparse, of `calls`, of functions that have such lines, and of any function that gets a parser.
    """
    by_name = {}
    parsers = set()
    for number, line in enumerate(source.split("\n"), 1):
        if "(" in line:
            for name in WORDS.findall(line[:2000]):
                by_name.setdefault(name, []).append(number)
            if "Parser(" in line or "parser" in line or "add_" in line:
                parsers.update(MAKES.findall(line[:500]))
        elif "add_argument" in line or "add_parser" in line:
            # `add = parser.add_argument`
            by_name.setdefault("add_argument", []).append(number)
    lines = set()
    for call in (*CALLS, *calls):
        lines.update(by_name.get(call, ()))
    if parsers:
        lines.update(lines_with_argument(source, parsers))
    functions = [node for node in statements if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    pending = list(functions)
    while pending:
        ordered = sorted(lines)
        found = [node for node in pending if has_line(ordered, node)]
        if not found:
            break
        pending = [node for node in pending if node not in set(found)]
        for node in found:
            lines.update(by_name.get(node.name, ()))
    return sorted(lines), [node.name for node in functions if node not in set(pending)]


def lines_with_argument(source, names):
    """The numbers of the lines on which one of `names` is passed to a function."""
    passed = re.compile(r"\w\((?:[^()]{0,200}[,=]\s*)?(?:" + "|".join(sorted(names)) + r")\s*[,)]")
    numbers = []
    number, end = 1, 0
    for found in passed.finditer(source):
        number += source.count("\n", end, found.start())
        end = found.start()
        numbers.append(number)
    return numbers


def has_line(ordered, node):
    index = bisect_left(ordered, node.lineno)
    return index < len(ordered) and ordered[index] <= (node.end_lineno or node.lineno)
