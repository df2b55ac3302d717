"""Finds the statements of a module without looking into their expressions."""

import ast

BODY = ("body",)
BRANCHES = ("body", "orelse")
BLOCKS = {
    ast.Module: BODY,
    ast.FunctionDef: BODY,
    ast.AsyncFunctionDef: BODY,
    ast.ClassDef: BODY,
    ast.If: BRANCHES,
    ast.For: BRANCHES,
    ast.AsyncFor: BRANCHES,
    ast.While: BRANCHES,
    ast.With: BODY,
    ast.AsyncWith: BODY,
    ast.Try: ("body", "orelse", "finalbody", "handlers"),
    ast.ExceptHandler: BODY,
}
for _name, _blocks in (("TryStar", ("body", "orelse", "finalbody", "handlers")), ("Match", ("cases",)), ("match_case", BODY)):
    if hasattr(ast, _name):
        BLOCKS[getattr(ast, _name)] = _blocks


def all_statements(tree):
    """Every statement of a module, however deep; expressions are not looked into, which is what makes it cheap."""
    found = []
    pending = [tree]
    while pending:
        node = pending.pop()
        for name in BLOCKS[type(node)]:
            for inner in getattr(node, name):
                found.append(inner)
                if type(inner) in BLOCKS:
                    pending.append(inner)
    return found
