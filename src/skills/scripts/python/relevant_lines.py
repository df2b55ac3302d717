"""Tells which lines of a script can have a part in building its parser."""

import ast
from bisect import bisect_left, bisect_right
from itertools import accumulate

CALLS = (
    "ArgumentParser",
    "OptionParser",
    "add_argument",
    "add_option",
    "add_mutually_exclusive_group",
    "add_parser",
    "add_subparsers",
    "parse_args",
    "parse_known_args",
    "parse_intermixed_args",
    "add_argument_group",
)
MAKERS = ("ArgumentParser", "OptionParser", "add_parser", "add_subparsers", "add_argument_group", "add_mutually_exclusive_group")

# However often a name stands in a script, not more of its places are looked at.
MOST_PLACES = 5000
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def relevant_lines(statements, source, calls=()):
    """The numbers of the lines that can matter, and the names of the functions that have such lines.

    They are calls of argparse, of `calls`, of functions that have such lines, and of any function that gets a parser.
    """
    text = Text(source)
    lines = set()
    for call in CALLS:
        # `add = parser.add_argument` matters as well as a call does, so whatever follows.
        lines.update(text.lines_of(places(source, call)))
    for call in calls:
        lines.update(text.lines_of(calls_of(source, call)))
    for name in method_names(source):
        lines.update(text.lines_of(calls_of(source, name)))
    for name in parser_names(source):
        lines.update(text.lines_of(passes_of(source, name)))
    pending = [node for node in statements if isinstance(node, DEFINITIONS)]
    names = []
    while pending:
        ordered = sorted(lines)
        rest = []
        for node in pending:
            if has_line(ordered, node):
                names.append(node.name)
                lines.update(text.lines_of(calls_of(source, node.name)))
            else:
                rest.append(node)
        if len(rest) == len(pending):
            break
        pending = rest
    return sorted(lines), names


class Text:
    """Knows on which line a place in a source is."""

    def __init__(self, source):
        self.ends = list(accumulate([len(line) + 1 for line in source.split("\n")]))

    def lines_of(self, found):
        return [bisect_right(self.ends, place) + 1 for place in found]


def places(source, name):
    """Where `name` stands, as a word or as a part of one."""
    count = 0
    at = source.find(name)
    while at != -1 and count < MOST_PLACES:
        yield at
        count += 1
        at = source.find(name, at + len(name))


def is_word_at(source, at, end):
    before = source[at - 1 : at] if at > 0 else ""
    after = source[end : end + 1]
    return not (before.isalnum() or before == "_" or after.isalnum() or after == "_")


def calls_of(source, name):
    """Where a function is called; where it is defined, too."""
    for at in places(source, name):
        end = at + len(name)
        if is_word_at(source, at, end) and source[end : end + 3].lstrip().startswith("("):
            yield at


def passes_of(source, name):
    """Where a variable is passed to a function."""
    for at in places(source, name):
        end = at + len(name)
        if is_word_at(source, at, end) and source[end : end + 3].lstrip()[:1] in (",", ")") and source[max(0, at - 80) : at].rstrip()[-1:] in ("(", ",", "="):
            yield at


def parser_names(source):
    """The variables that hold a parser, a group or sub-commands."""
    names = set()
    for maker in MAKERS:
        for at in places(source, maker):
            start = source.rfind("\n", 0, at) + 1
            target, equals, _ = source[start : min(at, start + 200)].partition("=")
            name = target.partition(":")[0].strip()
            if equals and name.isidentifier():
                names.add(name)
    return names


def method_names(source):
    """The variables that hold a method of a parser: `add = parser.add_argument`."""
    names = set()
    for at in places(source, "add_argument"):
        start = source.rfind("\n", 0, at) + 1
        target, equals, _ = source[start : min(at, start + 200)].partition("=")
        if equals and target.strip().isidentifier() and not source.startswith(("(", "_"), at + len("add_argument")):
            names.add(target.strip())
    return names


def has_line(ordered, node):
    index = bisect_left(ordered, node.lineno)
    return index < len(ordered) and ordered[index] <= (node.end_lineno or node.lineno)
