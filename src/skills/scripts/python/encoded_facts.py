"""Writes what was found as JSON."""

import ast
import math

from known_values import Callable, EnumClass, Span, Unknown, dotted_name
from parser_parts import Function, Parser

LONGEST = 4000
NUMBERS = {"int": "int", "float": "float"}


def plain(value, depth=0):
    """The value as JSON, or None if it is not JSON; the answer is a pair, so that None can be a value."""
    if value is None or isinstance(value, (bool, str)):
        return (value[:LONGEST] if isinstance(value, str) else value,)
    if isinstance(value, int):
        return (value,) if abs(value) < 2**53 else None
    if isinstance(value, float):
        return (value,) if math.isfinite(value) else None
    if isinstance(value, (list, tuple)) and depth < 8:
        items = [plain(item, depth + 1) for item in value]
        return None if None in items else ([item[0] for item in items],)
    if isinstance(value, dict) and depth < 8:
        entries = {str(key): plain(item, depth + 1) for key, item in value.items()}
        return None if None in entries.values() else ({key: item[0] for key, item in entries.items()},)
    return None


def encode(value):
    """A value of a keyword: known, a callable, or unknown."""
    known = plain(value)
    if known is not None:
        return {"value": known[0]}
    if isinstance(value, EnumClass):
        return {"name": value.name, "enum": [item for _, item in value.members]}
    if isinstance(value, Span):
        return {"minimum": value.minimum, "maximum": value.maximum}
    if isinstance(value, Callable):
        return {"name": value.name}
    if isinstance(value, Function):
        return {"name": value.node.name, **describe_function(value.node)}
    if isinstance(value, ast.Lambda):
        return {"name": "lambda", **describe_lambda(value)}
    if isinstance(value, Unknown) and isinstance(value.node, ast.Call) and (dotted_name(value.node.func) or "").split(".")[-1] == "FileType":
        modes = [node for node in [*value.node.args, *(word.value for word in value.node.keywords)] if isinstance(node, ast.Constant)]
        return {"name": "FileType", "values": [{"value": modes[0].value if modes else "r"}]}
    return {"unknown": True}


def describe_lambda(node):
    name = dotted_name(node.body.func) if isinstance(node.body, ast.Call) else None
    return {"returns": NUMBERS[name]} if name in NUMBERS else {}


def describe_function(node):
    """What a function that converts a value makes of it: a whole number, a number, and the limits it insists on."""
    found = {}
    returned = dotted_name(node.returns) if node.returns is not None else None
    assigned = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Call) and isinstance(inner.targets[0], ast.Name):
            assigned[inner.targets[0].id] = dotted_name(inner.value.func)
        elif isinstance(inner, ast.Return) and returned is None:
            if isinstance(inner.value, ast.Call):
                returned = dotted_name(inner.value.func)
            elif isinstance(inner.value, ast.Name):
                returned = assigned.get(inner.value.id)
        elif isinstance(inner, ast.If) and any(isinstance(step, ast.Raise) for step in inner.body):
            found.update(limits(inner.test))
    if returned not in NUMBERS:
        return {"returns": "bool"} if returned == "bool" else {}
    return {"returns": returned, **found}


def limits(test):
    """`if value <= 0: raise` means a minimum of 1."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        found = {}
        for part in test.values:
            found.update(limits(part))
        return found
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Compare):
        return inside(test.operand)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return {}
    bound = number(test.comparators[0])
    if bound is None or not isinstance(test.left, ast.Name):
        return {}
    kind = type(test.ops[0])
    if kind is ast.LtE and isinstance(bound, int):
        return {"minimum": bound + 1}
    if kind is ast.GtE and isinstance(bound, int):
        return {"maximum": bound - 1}
    return {"minimum": bound} if kind is ast.Lt else {"maximum": bound} if kind is ast.Gt else {}


def inside(test):
    """`if not 0 <= value <= 1: raise`"""
    low, high = number(test.left), number(test.comparators[-1])
    if len(test.ops) != 2 or low is None or high is None or not all(isinstance(op, ast.LtE) for op in test.ops):
        return {}
    return {"minimum": low, "maximum": high}


def number(node):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number(node.operand)
        return None if inner is None else -inner
    is_number = isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
    return node.value if is_number else None


def text_of(value):
    return value[:LONGEST] if isinstance(value, str) else None


def encode_parser(parser, depth=0):
    found = {
        "description": text_of(parser.keywords.get("description")),
        "epilog": text_of(parser.keywords.get("epilog")),
        "help": text_of(parser.keywords.get("help")),
        "used": parser.used,
        "old": parser.is_old,
        "extra": parser.extra,
        "strangers": parser.strangers[:10],
        "arguments": [encode_argument(*argument) for argument in parser.arguments[:300]],
    }
    if parser.commands is not None and depth < 4:
        keywords = parser.commands.keywords
        found["commands"] = {
            "required": keywords.get("required") is True,
            "parsers": [
                {"name": name, "aliases": keywords.get("aliases") if isinstance(keywords.get("aliases"), list) else [], "parser": encode_parser(child, depth + 1)}
                for name, keywords, child in parser.commands.parsers[:150]
            ],
        }
    return found


def encode_argument(flags, keywords, exclusive):
    return {
        "flags": flags,
        "keywords": {name: encode(value) for name, value in keywords.items()},
        "exclusive": None if exclusive is None else {"group": exclusive.number, "required": exclusive.required},
    }


def pick_parser(parsers):
    """Of several parsers the one whose arguments are parsed, and of several of those the largest."""
    candidates = [parser for parser in parsers if isinstance(parser, Parser) and not parser.is_command]

    def rank(parser):
        size = len(parser.arguments) + (0 if parser.commands is None else 5 * len(parser.commands.parsers))
        return (parser.used is not None, size)

    return max(candidates, key=rank, default=None)
