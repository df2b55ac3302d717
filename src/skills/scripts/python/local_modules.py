"""The modules of the same skill that a script imports, parsed when they are asked for."""

import ast

from known_values import Unknown
from parser_parts import Module, Scope
from relevant_lines import relevant_lines
from statements import all_statements


ROUNDS = 3


def parse(source):
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class LocalModule:
    def __init__(self, tree, lines):
        self.tree = tree
        self.lines = lines
        self.module = None


class LocalModules:
    """`sources` has the text of each by the name by which it is imported; a relative import starts with its dots."""

    def __init__(self, sources):
        self.found = {}
        self.loading = 0
        self.functions = set()
        parsed = [(name, source, tree) for name, source in sources.items() if (tree := parse(source)) is not None]
        # A function that calls one of another module matters if that one does.
        for _ in range(ROUNDS):
            known = len(self.functions)
            for name, source, tree in parsed:
                lines, functions = relevant_lines(all_statements(tree), source, self.functions)
                self.found[name] = LocalModule(tree, lines)
                self.functions.update(functions)
            if len(self.functions) == known:
                break

    def find(self, name):
        return self.found.get(name) or self.found.get(name.lstrip("."))


class Imports:
    """Follows imports of those modules; part of the interpreter, which has `modules`, `scope`, `block` and `look_up`."""

    def import_names(self, node):
        loaded = self.load(("." * node.level) + (node.module or ""))
        for alias in node.names:
            name = alias.asname or alias.name
            if loaded is not None and alias.name == "*":
                self.scope.names.update({key: loaded.member(key) for key in loaded.scope.names if not key.startswith("_")})
            elif loaded is not None and alias.name in loaded.scope.names:
                self.scope.names[name] = loaded.member(alias.name)
            else:
                # `from lib import cli`, where cli is a file
                inner = self.load(("." * node.level) + ".".join(part for part in (node.module, alias.name) if part))
                if inner is not None:
                    self.scope.names[name] = inner

    def import_modules(self, node):
        for alias in node.names:
            loaded = self.load(alias.name)
            if loaded is not None:
                self.scope.names[alias.asname or alias.name] = loaded

    def member(self, scope, name):
        """The value of a name of another module, worked out there."""
        if name not in scope.names:
            return Unknown()
        outer, self.scope = self.scope, scope
        try:
            return self.look_up(name, None)
        finally:
            self.scope = outer

    def load(self, name):
        """The module `name`, if it is a file of the skill; its statements are followed once."""
        found = self.modules.find(name)
        if found is None:
            return None
        if found.module is None:
            scope = Scope(lines=found.lines)
            found.module = Module(scope, lambda name: self.member(scope, name))
            outer, self.scope = self.scope, scope
            self.modules.loading += 1
            try:
                self.block(found.tree.body)
            finally:
                self.modules.loading -= 1
                self.scope = outer
        return found.module
