"""Looks at the shape of a module: what it imports, what it does when it is run, what it defines."""

import ast

from decorated_commands import ModuleValues
from encoded_facts import text_of
from known_values import Budget, dotted_name
from signatures import describe_signature

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# Calls at the top of a module that prepare something and do not make it a program.
PREPARING = {
    "sys.path.insert",
    "sys.path.append",
    "logging.basicConfig",
    "load_dotenv",
    "dotenv.load_dotenv",
    "warnings.filterwarnings",
    "warnings.simplefilter",
    "matplotlib.use",
    "sys.stdout.reconfigure",
    "sys.stderr.reconfigure",
    "urllib3.disable_warnings",
    "np.random.seed",
    "random.seed",
    "os.environ.setdefault",
    "plt.style.use",
    "sys.setrecursionlimit",
    "nest_asyncio.apply",
    "pd.set_option",
}


def read_shape(tree, source, statements):
    shape = Shape()
    for node in tree.body:
        shape.statement(node)
    main = shape.functions.get("main")
    called = [] if shape.guard is None else calls_in(shape.guard)
    is_called = "main" in shape.called or "main" in called
    return {
        "doc": text_of(ast.get_docstring(tree)),
        "guard": shape.guard is not None,
        "demo": shape.guard is not None and is_demo(shape.guard, called, source),
        "acts": shape.acts,
        "tests": shape.tests,
        "imports": sorted(imports_of(statements))[:200],
        "main": None if main is None else describe_main(main, tree, is_called),
        "mainCalled": is_called,
    }


def describe_main(node, tree, is_called):
    """What the function takes matters only where the script does not call it itself."""
    if is_called:
        return {"name": node.name, "doc": text_of(ast.get_docstring(node)), "parameters": [], "keywords": False, "asynchronous": False}
    return describe_signature(node, ModuleValues(tree, Budget(5000)).evaluator)


class Shape:
    def __init__(self):
        self.guard = None
        self.acts = False
        self.functions = {}
        self.tests = 0
        self.called = set()

    def statement(self, node):
        if isinstance(node, FUNCTIONS):
            self.functions[node.name] = node
            self.tests += node.name.startswith("test_")
        elif isinstance(node, ast.ClassDef):
            bases = [dotted_name(base) or "" for base in node.bases]
            self.tests += node.name.startswith("Test") or any(base.endswith("TestCase") for base in bases)
        elif isinstance(node, ast.If) and is_guard(node.test):
            self.guard = node
        elif isinstance(node, (ast.If, ast.Try)):
            for inner in (*node.body, *node.orelse):
                self.statement(inner)
            for handler in getattr(node, "handlers", ()):
                for inner in handler.body:
                    self.statement(inner)
        elif isinstance(node, ast.Expr):
            self.expression(node.value)
        elif isinstance(node, (ast.For, ast.While, ast.With, ast.AsyncWith, ast.AsyncFor, ast.Raise, ast.Delete)):
            self.acts = True
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            self.called.add(dotted_name(node.value.func) or "")

    def expression(self, node):
        if isinstance(node, ast.Await):
            node = node.value
        if not isinstance(node, ast.Call):
            return
        name = dotted_name(node.func) or ""
        self.called.add(name)
        for argument in node.args:
            if isinstance(argument, ast.Call):
                self.called.add(dotted_name(argument.func) or "")
        if name not in PREPARING:
            self.acts = True


def is_guard(test):
    """`__name__ == "__main__"`, with or without more conditions."""
    if isinstance(test, ast.BoolOp):
        return any(is_guard(value) for value in test.values)
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1:
        return False
    sides = (test.left, test.comparators[0])
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)


def calls_in(node):
    """The names of the functions that a block calls, in order."""
    found = []
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            name = dotted_name(inner.func)
            if name is not None and name not in found:
                found.append(name)
    return found[:40]


DEMO_WORDS = ("example", "demo", "sample", "quick test", "self-test", "smoke test")


def is_demo(guard, called, source):
    """A block for those who run a library by itself: it shows how it is used, and takes nothing."""
    if called == ["main"]:
        return False
    lines = source.split("\n")[guard.lineno - 1 : guard.end_lineno]
    text = "\n".join(lines).lower()
    if "argv" in text or "argparse" in text or "parse_args" in text or "stdin" in text or "input(" in text:
        return False
    names = [name.split(".")[-1].lower() for name in called]
    if any(name.startswith(("demo", "example", "run_demo", "run_example", "_demo", "_example")) for name in names):
        return True
    # A block that calls main and nothing else is a program, whatever its comments say.
    others = [name for name in names if name not in ("print", "exit", "run", "main")]
    return bool(others) and any(word in text for word in DEMO_WORDS)


def imports_of(statements):
    """The top-level names of all modules that are imported anywhere; a leading dot marks those of the same package."""
    found = set()
    for node in statements:
        kind = type(node)
        if kind is ast.Import:
            found.update([alias.name.split(".")[0] for alias in node.names])
        elif kind is ast.ImportFrom:
            module = (node.module or "").split(".")[0]
            found.add(f".{module}" if node.level else module)
    found.discard("")
    return found
