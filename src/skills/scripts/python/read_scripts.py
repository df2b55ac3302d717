"""Reads Python source and says how the script is called. It parses; it never runs, imports or opens anything.

The first line on standard output is {"ready"}. Then each line on standard input is a request, {"id", "source", "modules"}, and gets a line
on standard output, {"id", "facts"} or {"id", "error"}, in the same order.
"""

import ast
import gc
import json
import os
import sys
import warnings

if sys.version_info < (3, 8):
    sys.exit("Python 3.8 or newer is needed")

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from decorated_commands import read_commands  # noqa: E402
from encoded_facts import encode_parser, pick_parser  # noqa: E402
from known_values import Budget, OutOfBudget  # noqa: E402
from module_shape import read_shape  # noqa: E402
from parser_calls import Interpreter  # noqa: E402
from plain_code import read_plain_code  # noqa: E402
from statements import all_statements  # noqa: E402

STEPS = 60_000
MEMORY_BYTES = 1 << 30


def confine():
    """Gives up what parsing does not need: files, processes, endless memory and time."""
    try:
        import resource
    except ImportError:
        return
    for name, limit in (("RLIMIT_AS", MEMORY_BYTES), ("RLIMIT_FSIZE", 0), ("RLIMIT_NPROC", 0), ("RLIMIT_CPU", 120)):
        kind = getattr(resource, name, None)
        if kind is not None:
            try:
                resource.setrlimit(kind, (limit, limit))
            except (ValueError, OSError):
                pass


def read(source, modules):
    tree = ast.parse(source)
    statements = all_statements(tree)
    facts = read_shape(tree, source, statements)
    try:
        facts.update(read_commands(tree, source, Budget(STEPS)))
        if any(uses_parser(text) for text in (source, *modules.values())):
            interpreter = Interpreter(statements, source, Budget(STEPS), modules)
            try:
                interpreter.run(tree)
            except OutOfBudget:
                facts["cut"] = True
            parser = pick_parser(interpreter.parsers)
            facts["parser"] = None if parser is None else encode_parser(parser)
    except OutOfBudget:
        facts["cut"] = True
    if not any(facts.get(name) for name in ("parser", "click", "typer", "fire")) and ("argv" in source or "stdin" in source):
        facts["code"] = read_plain_code(tree)
    return facts


def uses_parser(text):
    return "argparse" in text or "add_argument" in text or "optparse" in text


def answer(line):
    request = json.loads(line)
    try:
        return {"id": request["id"], "facts": read(request["source"], request.get("modules") or {})}
    except SyntaxError as error:
        return {"id": request["id"], "error": {"kind": "syntax", "message": str(error.msg), "line": error.lineno or 1}}
    except (RecursionError, MemoryError):
        return {"id": request["id"], "error": {"kind": "deep", "message": "it is nested too deeply", "line": 1}}
    except Exception as error:  # noqa: BLE001
        return {"id": request["id"], "error": {"kind": "failed", "message": f"{type(error).__name__}: {error}"[:200], "line": 1}}


def main():
    confine()
    warnings.simplefilter("ignore")
    gc.disable()
    # What is loaded now stays: collecting need not look at it.
    gc.freeze()
    sys.stdout.write(json.dumps({"ready": sys.version.split()[0]}) + "\n")
    sys.stdout.flush()
    for count, line in enumerate(sys.stdin.buffer, 1):
        sys.stdout.write(json.dumps(answer(line)) + "\n")
        sys.stdout.flush()
        if count % 200 == 0:
            gc.collect()


if __name__ == "__main__":
    main()
