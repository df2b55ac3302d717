"""Turns a syntax tree into the nodes of code/node.ts, for scripts that handle sys.argv or standard input by themselves."""

import ast

MOST_NODES = 20_000

OPERATORS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "===",
    ast.IsNot: "!==",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.And: "and",
    ast.Or: "or",
    ast.Not: "not",
}


def read_plain_code(tree):
    """The statements of a module; None if there are too many of them to be handed over."""
    converter = Converter()
    try:
        return converter.all(tree.body)
    except (TooMuch, RecursionError):
        return None


class TooMuch(Exception):
    pass


def place(node):
    """Only the order of places matters."""
    return getattr(node, "lineno", 0) * 10_000 + min(getattr(node, "col_offset", 0), 9_999)


class Converter:
    def __init__(self):
        self.count = 0

    def all(self, nodes):
        return [self.one(node) for node in nodes]

    def one(self, node):
        self.count += 1
        if self.count > MOST_NODES:
            raise TooMuch
        convert = getattr(self, "convert_" + type(node).__name__, self.other)
        return {"start": place(node), **convert(node)}

    def other(self, node):
        return {"kind": "other", "type": type(node).__name__, "children": self.all(children_of(node))}

    def operation(self, operator, operands):
        return {"kind": "operation", "operator": OPERATORS.get(type(operator), ""), "operands": self.all(operands)}

    def convert_Expr(self, node):
        return self.one(node.value)

    convert_Await = convert_Expr
    convert_Index = convert_Expr

    def convert_FunctionDef(self, node):
        return {"kind": "function", "name": node.name, "parameters": self.parameters(node.args), "body": self.all(node.body)}

    convert_AsyncFunctionDef = convert_FunctionDef

    def convert_Lambda(self, node):
        body = {"kind": "leave", "how": "return", "start": place(node), "value": self.one(node.body)}
        return {"kind": "function", "parameters": self.parameters(node.args), "body": [body]}

    def parameters(self, arguments):
        plain = [*getattr(arguments, "posonlyargs", []), *arguments.args]
        defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
        found = [self.parameter(argument, default) for argument, default in zip(plain, defaults)]
        if arguments.vararg is not None:
            found.append({**self.parameter(arguments.vararg, None), "rest": True})
        return found

    def parameter(self, argument, default):
        start = place(argument)
        found = {"kind": "parameter", "start": start, "target": {"kind": "name", "name": argument.arg, "start": start}}
        if isinstance(argument.annotation, ast.Name):
            found["annotation"] = argument.annotation.id
        if default is not None:
            found["fallback"] = self.one(default)
        return found

    def convert_Assign(self, node):
        return self.assign("=", node.targets[0], node.value)

    def convert_AugAssign(self, node):
        return self.assign(OPERATORS.get(type(node.op), "") + "=", node.target, node.value)

    def convert_AnnAssign(self, node):
        return self.assign("=", node.target, node.value) if node.value is not None else self.other(node)

    def convert_NamedExpr(self, node):
        return self.assign("=", node.target, node.value)

    def assign(self, operator, target, value):
        return {"kind": "assign", "operator": operator, "target": self.one(target), "value": self.one(value)}

    def convert_If(self, node):
        return {"kind": "if", "test": self.one(node.test), "then": self.all(node.body), "otherwise": self.all(node.orelse)}

    def convert_While(self, node):
        return {"kind": "loop", "head": [self.one(node.test)], "body": self.all(node.body)}

    def convert_For(self, node):
        return self.loop(node, node.body)

    convert_AsyncFor = convert_For

    def loop(self, node, body):
        loop = {"kind": "loop", "variable": self.one(node.target), "over": self.one(node.iter)}
        return {**loop, "head": [], "body": self.all(body)}

    def convert_ListComp(self, node):
        return self.loop(node.generators[0], [node.elt])

    convert_SetComp = convert_ListComp
    convert_GeneratorExp = convert_ListComp

    def convert_Match(self, node):
        return {"kind": "switch", "subject": self.one(node.subject), "cases": [self.case(case) for case in node.cases]}

    def case(self, case):
        patterns = getattr(case.pattern, "patterns", [case.pattern])
        values = [pattern.value for pattern in patterns if type(pattern).__name__ == "MatchValue"]
        return {"kind": "case", "start": place(case.pattern), "values": self.all(values), "body": self.all(case.body)}

    def convert_Return(self, node):
        return self.leave("return", node.value)

    def convert_Raise(self, node):
        return self.leave("throw", node.exc)

    def convert_Break(self, _):
        return self.leave("break", None)

    def convert_Continue(self, _):
        return self.leave("continue", None)

    def leave(self, how, value):
        return {"kind": "leave", "how": how, **({} if value is None else {"value": self.one(value)})}

    def convert_Import(self, node):
        names = [{"imported": name.name, "local": name.asname or name.name} for name in node.names]
        return {"kind": "import", "module": "", "names": names}

    def convert_ImportFrom(self, node):
        return {**self.convert_Import(node), "module": node.module or ""}

    def convert_Name(self, node):
        return {"kind": "name", "name": node.id}

    def convert_Constant(self, node):
        if node.value is None or isinstance(node.value, (str, bool, int, float)):
            return {"kind": "value", "value": node.value if is_plain(node.value) else None}
        return {"kind": "other", "type": "Constant", "children": []}

    def convert_JoinedStr(self, node):
        texts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
        parts = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        return {"kind": "template", "text": "".join(texts), "parts": self.all(parts)}

    def convert_List(self, node):
        return {"kind": "list", "items": self.all(node.elts)}

    convert_Tuple = convert_List
    convert_Set = convert_List

    def convert_Dict(self, node):
        return {"kind": "object", "entries": [self.entry(key, value) for key, value in zip(node.keys, node.values)]}

    def entry(self, key, value):
        start = place(value)
        if key is None:
            return {"kind": "spread", "start": start, "operand": self.one(value)}
        named = isinstance(key, ast.Constant) and isinstance(key.value, str)
        name = {"key": key.value} if named else {"computed": self.one(key)}
        return {"kind": "entry", "start": start, **name, "value": self.one(value)}

    def convert_Starred(self, node):
        return {"kind": "spread", "operand": self.one(node.value)}

    def convert_Attribute(self, node):
        return {"kind": "member", "object": self.one(node.value), "property": node.attr}

    def convert_Subscript(self, node):
        if isinstance(node.slice, ast.Slice):
            lower = {} if node.slice.lower is None else {"from": self.one(node.slice.lower)}
            return {"kind": "slice", "object": self.one(node.value), **lower}
        return {"kind": "index", "object": self.one(node.value), "index": self.one(node.slice)}

    def convert_Call(self, node):
        keywords = [
            {"kind": "keyword", "start": place(keyword.value), "name": keyword.arg or "", "value": self.one(keyword.value)}
            for keyword in node.keywords
        ]
        return {"kind": "call", "end": place(node), "callee": self.one(node.func), "args": self.all(node.args) + keywords}

    def convert_BoolOp(self, node):
        return self.operation(node.op, node.values)

    def convert_BinOp(self, node):
        return self.operation(node.op, [node.left, node.right])

    def convert_UnaryOp(self, node):
        operand = node.operand
        if isinstance(node.op, ast.USub) and isinstance(operand, ast.Constant) and isinstance(operand.value, (int, float)):
            return {"kind": "value", "value": -operand.value if is_plain(operand.value) else None}
        return self.operation(node.op, [operand])

    def convert_Compare(self, node):
        if len(node.ops) > 1:
            return self.other(node)
        return self.operation(node.ops[0], [node.left, node.comparators[0]])

    def convert_IfExp(self, node):
        return {"kind": "operation", "operator": "?:", "operands": self.all([node.test, node.body, node.orelse])}


def is_plain(value):
    """What JSON can carry."""
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    return not isinstance(value, int) or abs(value) < 2**53


def children_of(node):
    return [child for child in ast.iter_child_nodes(node) if isinstance(child, (ast.stmt, ast.expr, ast.ExceptHandler, ast.withitem))]
