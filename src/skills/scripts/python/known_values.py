"""Works out what an expression is without running it: constants, lists of them, enums, text put together.

Whatever cannot be known is an Unknown. All work is counted against a budget, so no source can make it slow.
"""

import ast

MOST_ITEMS = 1000
LONGEST_TEXT = 20_000
DEEPEST = 40


class Budget:
    """How many steps are left for one file."""

    def __init__(self, steps):
        self.steps = steps

    def spend(self):
        self.steps -= 1
        if self.steps < 0:
            raise OutOfBudget()


class OutOfBudget(Exception):
    """The file is too intricate to be followed any further."""


class Unknown:
    """A value that cannot be known; the expression is kept for messages."""

    def __init__(self, node=None):
        self.node = node


class Callable:
    """A function, a class or a type, by its name."""

    def __init__(self, name, node=None):
        self.name = name
        self.node = node


class EnumClass:
    """An enumeration: its members in order, as pairs of name and value."""

    def __init__(self, name, members):
        self.name = name
        self.members = members


class Span:
    """A row of whole numbers that is too long to be listed."""

    def __init__(self, span):
        self.minimum = span[0]
        self.maximum = span[-1]


def is_unknown(value):
    return isinstance(value, Unknown)


def dotted_name(node):
    """The name of a name or of an attribute: "argparse.ArgumentParser"; None for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


def index_of(node):
    """What stands between the brackets of a subscript; before Python 3.9 it was wrapped."""
    return node.slice.value if type(node.slice).__name__ == "Index" else node.slice


def enum_members(node):
    """The members of a class that is an enumeration; None if it is not one."""
    bases = [dotted_name(base) or "" for base in node.bases]
    if not any(base.split(".")[-1] in ("Enum", "StrEnum", "IntEnum") for base in bases):
        return None
    members = []
    for statement in node.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            value = statement.value.value if isinstance(statement.value, ast.Constant) else statement.targets[0].id.lower()
            members.append((statement.targets[0].id, value))
    return members[:MOST_ITEMS]


class Evaluator:
    """Evaluates expressions; `look_up` gives the value of a name, `call` is asked first about every call."""

    def __init__(self, look_up, call, budget):
        self.look_up = look_up
        self.call = call
        self.budget = budget
        self.depth = 0

    def evaluate(self, node):
        self.budget.spend()
        method = self.METHODS.get(type(node))
        if method is None or self.depth > DEEPEST:
            return Unknown(node)
        self.depth += 1
        try:
            return method(self, node)
        except (TypeError, ValueError, KeyError, IndexError, ZeroDivisionError, OverflowError, AttributeError):
            return Unknown(node)
        finally:
            self.depth -= 1

    def all_known(self, nodes):
        """The values of `nodes`, with starred lists spread; None if one is not known."""
        values = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                spread = self.evaluate(node.value)
                if not isinstance(spread, (list, tuple)):
                    return None
                values.extend(spread)
            else:
                value = self.evaluate(node)
                if is_unknown(value):
                    return None
                values.append(value)
            if len(values) > MOST_ITEMS:
                return None
        return values

    def constant(self, node):
        return Unknown(node) if isinstance(node.value, (bytes, complex)) or node.value is Ellipsis else node.value

    def name(self, node):
        return self.look_up(node.id, node)

    def attribute(self, node):
        owner = self.evaluate(node.value)
        if isinstance(owner, EnumClass):
            for name, value in owner.members:
                if name == node.attr:
                    return value
        elif node.attr == "value" and isinstance(owner, (str, int, float)):
            return owner
        elif hasattr(owner, "member"):
            return owner.member(node.attr)
        elif hasattr(owner, "attributes"):
            return owner.attributes.get(node.attr, Unknown(node))
        name = dotted_name(node)
        return Callable(name) if name is not None else Unknown(node)

    def sequence(self, node):
        values = self.all_known(node.elts)
        return Unknown(node) if values is None else values

    def dictionary(self, node):
        result = {}
        for key, value in zip(node.keys, node.values):
            if key is None:
                spread = self.evaluate(value)
                if not isinstance(spread, dict):
                    return Unknown(node)
                result.update(spread)
                continue
            known = self.evaluate(key)
            if not isinstance(known, (str, int, float, bool)):
                return Unknown(node)
            # A value may stay unknown: most dictionaries are asked for their keys.
            result[known] = self.evaluate(value)
            if len(result) > MOST_ITEMS:
                return Unknown(node)
        return result

    def unary(self, node):
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(value, (int, float)):
            return -value
        return not value if isinstance(node.op, ast.Not) and isinstance(value, bool) else Unknown(node)

    def binary(self, node):
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(node.op, ast.Mod) and isinstance(left, str):
            return left if is_unknown(right) else Unknown(node)
        if is_unknown(left) or is_unknown(right):
            # Text that is put together keeps what is known of it.
            if isinstance(node.op, ast.Add) and (isinstance(left, str) or isinstance(right, str)):
                return "".join(part if isinstance(part, str) else "{}" for part in (left, right))[:LONGEST_TEXT]
            return Unknown(node)
        if isinstance(node.op, ast.Add) and type(left) is type(right) and isinstance(left, (str, list)):
            return (left + right)[:LONGEST_TEXT]
        if isinstance(left, bool) or isinstance(right, bool) or not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
            if isinstance(node.op, ast.Div) and isinstance(left, str) and isinstance(right, str):
                return f"{left}/{right}"
            return Unknown(node)
        return self.arithmetic(node, left, right)

    def arithmetic(self, node, left, right):
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult) and abs(left) < 1e15 and abs(right) < 1e15:
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
        if isinstance(node.op, ast.FloorDiv):
            return left // right
        if isinstance(node.op, ast.Pow) and abs(left) < 1000 and 0 <= right < 40:
            return left**right
        return Unknown(node)

    def formatted(self, node):
        text = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += str(part.value)
                continue
            value = self.evaluate(part.value) if isinstance(part, ast.FormattedValue) else Unknown(part)
            text += str(value) if isinstance(value, (str, int, float)) else "{}"
        return text[:LONGEST_TEXT]

    def subscript(self, node):
        owner = self.evaluate(node.value)
        if isinstance(node.slice, ast.Slice) or not isinstance(owner, (list, dict, tuple, str)):
            return Unknown(node)
        return owner[self.evaluate(index_of(node))]

    def conditional(self, node):
        test = self.evaluate(node.test)
        if isinstance(test, bool):
            return self.evaluate(node.body if test else node.orelse)
        return Unknown(node)

    def either(self, node):
        # `os.environ.get("X") or "default"`: nobody knows the first, so the default is only a default.
        return Unknown(node)

    def comprehension(self, node):
        generator = node.generators[0]
        if len(node.generators) > 1 or generator.ifs or not isinstance(generator.target, ast.Name):
            return Unknown(node)
        items = self.evaluate(generator.iter)
        if isinstance(items, EnumClass):
            return [value for _, value in items.members]
        if isinstance(items, dict):
            items = list(items)
        if not isinstance(items, list):
            return Unknown(node)
        outer, name, values = self.look_up, generator.target.id, []
        for item in items[:MOST_ITEMS]:
            self.look_up = lambda asked, at, item=item: item if asked == name else outer(asked, at)
            try:
                values.append(self.evaluate(node.elt))
            finally:
                self.look_up = outer
        return Unknown(node) if any(is_unknown(value) for value in values) else values

    def called(self, node):
        made = self.call(node, self)
        if made is not None:
            return made
        if isinstance(node.func, ast.Attribute):
            return self.method_call(node)
        name = dotted_name(node.func)
        if name == "dict" and not node.args:
            return {word.arg: self.evaluate(word.value) for word in node.keywords if word.arg is not None}
        arguments = self.all_known(node.args)
        if name is None or arguments is None or not arguments:
            return Unknown(node)
        return self.builtin_call(node, name, arguments)

    def builtin_call(self, node, name, arguments):
        first = arguments[0]
        if name in ("list", "tuple", "set", "sorted", "frozenset") and isinstance(first, EnumClass):
            return [value for _, value in first.members]
        if name in ("list", "tuple", "set", "frozenset") and isinstance(first, (list, dict, str)):
            return list(first)
        if name == "sorted" and isinstance(first, (list, dict)):
            return sorted(first)
        if name == "range" and all(isinstance(item, int) for item in arguments):
            span = range(*arguments)
            return list(span) if len(span) <= MOST_ITEMS else Span(span) if span.step == 1 else Unknown(node)
        if name in ("str", "Path", "PurePath") and isinstance(first, (str, int, float)):
            return str(first)
        if name == "len" and isinstance(first, (list, dict, str)):
            return len(first)
        return Unknown(node)

    def method_call(self, node):
        name = dotted_name(node.func) or ""
        arguments = self.all_known(node.args)
        if arguments is None:
            return Unknown(node)
        if name in ("textwrap.dedent", "inspect.cleandoc") and arguments and isinstance(arguments[0], str):
            return arguments[0]
        if name in ("pathlib.Path", "pathlib.PurePath") and arguments and isinstance(arguments[0], str):
            return arguments[0]
        if name == "os.path.join" and arguments and all(isinstance(item, str) for item in arguments):
            return "/".join(arguments)
        owner = self.evaluate(node.func.value)
        method = node.func.attr
        if isinstance(owner, dict) and method in ("keys", "values"):
            return list(owner) if method == "keys" else list(owner.values())
        if isinstance(owner, dict) and method == "items":
            return [[key, value] for key, value in owner.items()]
        if isinstance(owner, str):
            return self.text_method(node, owner, method, arguments)
        return Unknown(node)

    def text_method(self, node, owner, method, arguments):
        if method in ("strip", "lower", "upper", "lstrip", "rstrip", "title", "capitalize"):
            return getattr(owner, method)(*arguments)
        if method == "join" and isinstance(arguments[0], list):
            return owner.join(str(item) for item in arguments[0])[:LONGEST_TEXT]
        if method == "split":
            return owner.split(*arguments)[:MOST_ITEMS]
        if method == "replace" and len(owner) < LONGEST_TEXT and len(arguments[1]) < 100:
            return owner.replace(*arguments[:2])[:LONGEST_TEXT]
        return owner if method == "format" else Unknown(node)

    METHODS = {
        ast.Constant: constant,
        ast.Name: name,
        ast.Attribute: attribute,
        ast.List: sequence,
        ast.Tuple: sequence,
        ast.Set: sequence,
        ast.Dict: dictionary,
        ast.UnaryOp: unary,
        ast.BinOp: binary,
        ast.JoinedStr: formatted,
        ast.Subscript: subscript,
        ast.IfExp: conditional,
        ast.BoolOp: either,
        ast.ListComp: comprehension,
        ast.SetComp: comprehension,
        ast.GeneratorExp: comprehension,
        ast.Call: called,
    }
