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


def relevant_lines(statements, source):
    """The numbers of the lines that can matter: calls of argparse, and calls of functions that have such lines."""
    by_name = {}
    for number, line in enumerate(source.split("\n"), 1):
        if "(" in line:
            for name in WORDS.findall(line[:2000]):
                by_name.setdefault(name, []).append(number)
        elif "add_argument" in line or "add_parser" in line:
            # `add = parser.add_argument`
            by_name.setdefault("add_argument", []).append(number)
    lines = set()
    for call in CALLS:
        lines.update(by_name.get(call, ()))
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
    return sorted(lines)


def has_line(ordered, node):
    index = bisect_left(ordered, node.lineno)
    return index < len(ordered) and ordered[index] <= (node.end_lineno or node.lineno)
