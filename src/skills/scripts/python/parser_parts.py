"""What a parser of argparse is made of, and what else a script's names can stand for."""


class Parser:
    def __init__(self, keywords):
        self.keywords = keywords
        self.arguments = []
        self.commands = None
        self.used = None
        self.extra = None
        self.is_command = False
        # optparse, which came before argparse: what is no flag is left to the script.
        self.is_old = False
        # Functions that got the parser and could not be followed.
        self.strangers = []


class Group:
    def __init__(self, parser, exclusive=None):
        self.parser = parser
        self.exclusive = exclusive


class Exclusive:
    """A group of which only one may be given."""

    def __init__(self, number, required):
        self.number = number
        self.required = required


class Commands:
    def __init__(self, keywords, parser):
        self.keywords = keywords
        self.parser = parser
        self.parsers = []


class Function:
    def __init__(self, node, scope, owner=None):
        self.node = node
        self.scope = scope
        self.owner = owner


class Instance:
    def __init__(self, methods):
        self.attributes = {}
        self.methods = methods


class Bound:
    """A method of a parser that was given a name: `add = parser.add_argument`."""

    def __init__(self, owner, method):
        self.owner = owner
        self.method = method


class Lazy:
    """The value of a constant, looked at only when somebody asks for it."""

    def __init__(self, node):
        self.node = node


class Module:
    """A module of the same skill that the script imports."""

    def __init__(self, scope, member):
        self.scope = scope
        self.member = member


class Scope:
    """Names and their values; `lines` are those of the module that can matter."""

    def __init__(self, parent=None, lines=()):
        self.names = {}
        self.parent = parent
        self.lines = lines if parent is None else parent.lines

    def find(self, name):
        scope = self
        while scope is not None:
            if name in scope.names:
                return scope, scope.names[name]
            scope = scope.parent
        return None, None
