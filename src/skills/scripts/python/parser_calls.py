"""Follows the calls that build an argparse parser: through functions, loops, groups, parents and sub-commands.

Nothing is run. Only statements that can matter are followed: those on lines with a call of argparse, and calls of functions
that have such lines.
"""

import ast

from known_values import Callable, EnumClass, Evaluator, Unknown, dotted_name, enum_members, is_unknown
from local_modules import Imports, LocalModules
from parser_methods import ParserMethods
from parser_parts import Bound, Commands, Function, Group, Instance, Lazy, Module, Parser, Scope
from relevant_lines import CALLS, has_line, relevant_lines

DEEPEST_CALLS = 12
MOST_LOOPS = 200

# Functions that may get a parser and add nothing to it.
HARMLESS = {"print", "isinstance", "str", "repr", "type", "id", "hasattr", "getattr", "setattr", "vars", "len", "dict", "list"}
HARMLESS.update(("autocomplete", "format_help", "print_help", "error", "exit", "append", "shtab", "cast", "set_defaults", "partial"))


def is_static(node):
    return any(dotted_name(decorator) == "staticmethod" for decorator in node.decorator_list)


def is_guard(node):
    test = node.test
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


class Interpreter(Imports, ParserMethods):
    def __init__(self, statements, source, budget, sources=None):
        ParserMethods.__init__(self)
        self.budget = budget
        self.active = []
        self.returns = []
        self.modules = LocalModules(sources or {})
        lines, _ = relevant_lines(statements, source, self.modules.functions)
        self.module = Scope(lines=lines)
        self.scope = self.module
        self.evaluator = Evaluator(self.look_up, self.call, budget)

    def run(self, tree):
        self.block(tree.body)
        if not any(parser.used for parser in self.parsers):
            for function in list(self.module.names.values()):
                if isinstance(function, Function) and self.matters(function.node, function.scope):
                    self.invoke(function, [], {})

    def matters(self, node, scope=None):
        return has_line((scope or self.scope).lines, node)

    def look_up(self, name, node):
        scope, value = self.scope.find(name)
        if scope is None:
            return Callable(name)
        if isinstance(value, Lazy):
            # While it is worked out it is not known, so a constant made of itself ends here.
            scope.names[name] = Unknown(node)
            value = scope.names[name] = self.evaluator.evaluate(value.node)
        return value

    # Statements

    def block(self, statements):
        for statement in statements:
            self.budget.spend()
            method = self.STATEMENTS.get(type(statement))
            if method is not None:
                method(self, statement)

    def define(self, node):
        self.scope.names[node.name] = Function(node, self.scope)

    def define_class(self, node):
        members = enum_members(node)
        if members is not None:
            self.scope.names[node.name] = EnumClass(node.name, members)
        elif any((dotted_name(base) or "").endswith("ArgumentParser") for base in node.bases):
            self.scope.names[node.name] = Callable("argparse.ArgumentParser")
        else:
            methods = {item.name: Function(item, self.scope) for item in node.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))}
            self.scope.names[node.name] = Callable(node.name, methods) if self.matters(node) else Callable(node.name, node)

    def assign(self, node):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value is None:
            return
        if not self.matters(node) and len(targets) == 1 and isinstance(targets[0], ast.Name):
            self.scope.names.setdefault(targets[0].id, Lazy(node.value))
            return
        value = self.bound(node.value) or self.evaluator.evaluate(node.value)
        for target in targets:
            self.bind(target, value)
        if isinstance(targets[0], ast.Tuple) and len(targets[0].elts) == 2 and isinstance(targets[0].elts[1], ast.Name):
            for parser in self.parsers:
                leaves_some = parser.used == "parse_known_args" or (parser.is_old and parser.used is not None)
                if leaves_some and parser.extra is None:
                    parser.extra = targets[0].elts[1].id

    def bound(self, node):
        if not isinstance(node, ast.Attribute) or node.attr not in CALLS:
            return None
        owner = self.evaluator.evaluate(node.value)
        return Bound(owner, node.attr) if isinstance(owner, (Parser, Group, Commands)) else None

    def bind(self, target, value):
        if isinstance(target, ast.Name):
            self.scope.names[target.id] = value
        elif isinstance(target, ast.Attribute):
            owner = self.evaluator.evaluate(target.value)
            if isinstance(owner, Instance):
                owner.attributes[target.attr] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = value if isinstance(value, list) and len(value) == len(target.elts) else [Unknown(target)] * len(target.elts)
            for element, item in zip(target.elts, items):
                self.bind(element, item)

    def add_assign(self, node):
        if isinstance(node.target, ast.Name) and isinstance(node.op, ast.Add):
            total = ast.BinOp(left=node.target, op=node.op, right=node.value)
            ast.copy_location(total, node)
            left = self.evaluator.evaluate(ast.copy_location(ast.Name(id=node.target.id, ctx=ast.Load()), node))
            right = self.evaluator.evaluate(node.value)
            known = isinstance(left, (str, list)) and type(left) is type(right) and len(left) < 2000
            self.scope.names[node.target.id] = left + right if known else Unknown(total)

    def expression(self, node):
        if self.matters(node):
            self.evaluator.evaluate(node.value)

    def give_back(self, node):
        if node.value is not None and self.returns:
            value = self.evaluator.evaluate(node.value)
            if is_unknown(self.returns[-1]) or isinstance(value, Parser):
                self.returns[-1] = value

    def branch(self, node):
        # What another module does when it is run by itself does not concern us.
        if self.modules.loading and is_guard(node):
            return
        chosen = self.decide(node.test) if isinstance(node, ast.If) else None
        if chosen is not None:
            self.block(node.body if chosen else node.orelse)
            return
        # Whatever the condition is, both sides may add arguments.
        self.block(node.body)
        self.block(node.orelse)

    def decide(self, test):
        """The value of `name == "start"` where the name is that of a loop or of a parameter; None if it is not known."""
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.left, ast.Name):
            return None
        _, left = self.scope.find(test.left.id)
        right = self.evaluator.evaluate(test.comparators[0])
        if not isinstance(left, (str, int)) or is_unknown(right):
            return None
        kind = type(test.ops[0])
        if kind in (ast.In, ast.NotIn) and isinstance(right, (list, dict)):
            return (left in right) is (kind is ast.In)
        if kind in (ast.Eq, ast.NotEq) and isinstance(right, (str, int)):
            return (left == right) is (kind is ast.Eq)
        return None

    def repeat(self, node):
        if not self.matters(node):
            return
        items = self.evaluator.evaluate(node.iter)
        if isinstance(items, dict):
            items = list(items)
        if isinstance(items, EnumClass):
            items = [value for _, value in items.members]
        if not isinstance(items, list):
            items = [Unknown(node.iter)]
        for item in items[:MOST_LOOPS]:
            self.bind(node.target, item)
            self.block(node.body)

    def try_block(self, node):
        self.block(node.body)
        for handler in node.handlers:
            self.block(handler.body)
        self.block(node.orelse)
        self.block(node.finalbody)

    def with_block(self, node):
        self.block(node.body)

    def match_block(self, node):
        for case in node.cases:
            self.block(case.body)

    # Calls

    def call(self, node, evaluator):
        """The value of a call that builds a parser or of a function that does; None for all others."""
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in CALLS:
            owner = evaluator.evaluate(function.value)
            if isinstance(owner, (Parser, Group, Commands)):
                return self.method(owner, function.attr, node)
        name = dotted_name(function)
        if name is None:
            return None
        if name.split(".")[-1] in ("ArgumentParser", "OptionParser"):
            return self.new_parser(self.keywords(node), is_old=name.endswith("OptionParser"))
        value = evaluator.evaluate(function)
        if isinstance(value, Callable) and value.name.endswith("ArgumentParser"):
            return self.new_parser(self.keywords(node))
        if isinstance(value, Callable) and isinstance(value.node, dict):
            return self.instance(value.node, node)
        if isinstance(value, Bound):
            return self.method(value.owner, value.method, node)
        if isinstance(value, Function):
            return self.invoke(value, *self.arguments(node)) if self.matters(value.node, value.scope) else None
        return self.method_of_instance(function, node, evaluator)

    def method_of_instance(self, function, node, evaluator):
        owner = None
        if isinstance(function, ast.Attribute):
            # `import lib.cli` makes a name with a dot in it.
            _, owner = self.scope.find(dotted_name(function.value))
            owner = owner if isinstance(owner, Module) else evaluator.evaluate(function.value)
        if isinstance(owner, Module):
            method, first = owner.scope.names.get(function.attr), []
            if isinstance(method, Callable) and isinstance(method.node, dict):
                return self.instance(method.node, node)
        elif isinstance(owner, Callable) and isinstance(owner.node, dict):
            method = owner.node.get(function.attr)
            first = [] if method is None or is_static(method.node) else [owner]
        else:
            method, first = (owner.methods.get(function.attr), [owner]) if isinstance(owner, Instance) else (None, [])
        if not isinstance(method, Function):
            return self.note_stranger(function, node)
        if not self.matters(method.node, method.scope):
            return None
        positional, keywords = self.arguments(node)
        return self.invoke(method, [*first, *positional], keywords)

    def note_stranger(self, function, node):
        """A function that we cannot see into may add anything to a parser that it gets."""
        name = dotted_name(function) or "a function"
        if name.split(".")[-1] in HARMLESS or len(node.args) + len(node.keywords) > 20:
            return None
        for item in (*node.args, *(keyword.value for keyword in node.keywords)):
            value = self.evaluator.evaluate(item) if isinstance(item, (ast.Name, ast.Attribute)) else None
            parser = value.parser if isinstance(value, (Group, Commands)) else value
            if isinstance(parser, Parser) and name not in parser.strangers:
                parser.strangers.append(name)
        return None

    def instance(self, methods, node):
        made = Instance(methods)
        if "__init__" in methods:
            positional, keywords = self.arguments(node)
            self.invoke(methods["__init__"], [made, *positional], keywords)
        return made

    def arguments(self, node):
        positional = [self.evaluator.evaluate(item) for item in node.args if not isinstance(item, ast.Starred)]
        return positional, self.keywords(node)

    def invoke(self, function, positional, keywords):
        """Follows the body of a function as if it were called; answers with what it returns."""
        if function.node in self.active or len(self.active) > DEEPEST_CALLS:
            return Unknown(function.node)
        scope = Scope(function.scope)
        spec = function.node.args
        names = [argument.arg for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
        for name in names:
            scope.names[name] = Unknown(function.node)
        for argument, default in zip(reversed((*spec.posonlyargs, *spec.args)), reversed(spec.defaults)):
            scope.names[argument.arg] = self.evaluator.evaluate(default)
        scope.names.update(zip(names, positional))
        scope.names.update({name: value for name, value in keywords.items() if name in scope.names})
        outer, self.scope = self.scope, scope
        self.active.append(function.node)
        self.returns.append(Unknown(function.node))
        try:
            self.block(function.node.body)
            return self.returns[-1]
        finally:
            self.returns.pop()
            self.active.pop()
            self.scope = outer

    STATEMENTS = {
        ast.Import: Imports.import_modules,
        ast.ImportFrom: Imports.import_names,
        ast.FunctionDef: define,
        ast.AsyncFunctionDef: define,
        ast.ClassDef: define_class,
        ast.Assign: assign,
        ast.AnnAssign: assign,
        ast.AugAssign: add_assign,
        ast.Expr: expression,
        ast.Return: give_back,
        ast.If: branch,
        ast.For: repeat,
        ast.AsyncFor: repeat,
        ast.While: branch,
        ast.With: with_block,
        ast.AsyncWith: with_block,
        ast.Try: try_block,
    }
    if hasattr(ast, "Match"):
        STATEMENTS[ast.Match] = match_block
