"""Describes the parameters of functions: names, types, defaults, and what typer says about them."""

import ast

from encoded_facts import encode, text_of
from known_values import EnumClass, dotted_name, index_of

LISTS = {"List", "list", "Sequence", "Iterable", "Tuple", "tuple", "Set", "set", "FrozenSet", "frozenset"}
TEXTS = {"str", "datetime", "date", "UUID", "Any"}


def describe_annotation(node, evaluator, depth=0):
    """{"type", "many", "optional", "choices"} of an annotation; typer's words about it are under "declared"."""
    if node is None or depth > 8:
        return {}
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return describe_annotation(ast.parse(node.value, mode="eval").body, evaluator, depth + 1)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return describe_union([node.left, node.right], evaluator, depth)
    if isinstance(node, ast.Subscript):
        return describe_subscript(node, evaluator, depth)
    name = (dotted_name(node) or "").split(".")[-1]
    if name in ("int", "float", "bool"):
        return {"type": name}
    if name in ("Path", "PurePath", "PosixPath", "FilePath", "DirectoryPath"):
        return {"type": "path"}
    if name in TEXTS:
        return {"type": "str"}
    if name in LISTS:
        return {"type": "str", "many": True}
    if name in ("dict", "Dict", "Mapping"):
        return {"type": "dict"}
    value = evaluator.evaluate(node)
    if isinstance(value, EnumClass):
        return {"choices": [item for _, item in value.members]}
    return {}


def describe_subscript(node, evaluator, depth):
    name = (dotted_name(node.value) or "").split(".")[-1]
    index = index_of(node)
    inner = index.elts if isinstance(index, ast.Tuple) else [index]
    if name == "Optional":
        return {**describe_annotation(inner[0], evaluator, depth + 1), "optional": True}
    if name == "Union":
        return describe_union(inner, evaluator, depth)
    if name in LISTS:
        return {**describe_annotation(inner[0], evaluator, depth + 1), "many": True}
    if name == "Literal":
        return {"choices": [item.value for item in inner if isinstance(item, ast.Constant)]}
    if name == "Annotated":
        found = describe_annotation(inner[0], evaluator, depth + 1)
        for extra in inner[1:]:
            declared = describe_declaration(extra, evaluator)
            if declared is not None:
                found["declared"] = declared
            elif isinstance(extra, ast.Constant) and isinstance(extra.value, str):
                found["help"] = text_of(extra.value)
        return found
    if name in ("dict", "Dict", "Mapping"):
        return {"type": "dict"}
    return {}


def describe_union(nodes, evaluator, depth):
    kept = [node for node in nodes if not (isinstance(node, ast.Constant) and node.value is None)]
    found = describe_annotation(kept[0], evaluator, depth + 1) if len(kept) == 1 else {}
    return {**found, "optional": len(kept) < len(nodes)} if len(kept) < len(nodes) else found


def describe_declaration(node, evaluator):
    """`typer.Option(…)` and `typer.Argument(…)`; None for anything else."""
    name = (dotted_name(node.func) or "").split(".")[-1] if isinstance(node, ast.Call) else ""
    if name not in ("Option", "Argument", "Parameter"):
        return None
    values = [{"ellipsis": True} if is_ellipsis(item) else encode(evaluator.evaluate(item)) for item in node.args]
    keywords = {word.arg: encode(evaluator.evaluate(word.value)) for word in node.keywords if word.arg is not None}
    return {"kind": name, "values": values, "keywords": keywords}


def is_ellipsis(node):
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def describe_signature(node, evaluator, skip_first=False):
    """A function as {"name", "doc", "parameters"}."""
    spec = node.args
    places = [*spec.posonlyargs, *spec.args]
    defaults = [None] * (len(places) - len(spec.defaults)) + list(spec.defaults)
    found = [describe_parameter(argument, default, evaluator, "place") for argument, default in zip(places, defaults)]
    if skip_first:
        found = found[1:]
    if spec.vararg is not None:
        found.append({**describe_parameter(spec.vararg, None, evaluator, "places"), "required": False})
    found.extend(describe_parameter(argument, default, evaluator, "keyword") for argument, default in zip(spec.kwonlyargs, spec.kw_defaults))
    return {
        "name": node.name,
        "doc": text_of(ast.get_docstring(node)),
        "parameters": found[:60],
        "keywords": spec.kwarg is not None,
        "asynchronous": isinstance(node, ast.AsyncFunctionDef),
    }


def describe_parameter(argument, default, evaluator, kind):
    if default is not None and is_ellipsis(default):
        default = None
    found = {"name": argument.arg, "kind": kind, "required": default is None, **describe_annotation(argument.annotation, evaluator)}
    declared = None if default is None else describe_declaration(default, evaluator)
    if declared is not None:
        found["declared"] = declared
    elif default is not None:
        found["default"] = encode(evaluator.evaluate(default))
    return found
