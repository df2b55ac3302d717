"""What the methods of a parser do to it: arguments, groups, parents and sub-commands."""

import ast

from known_values import Unknown
from parser_parts import Commands, Exclusive, Group, Parser


class ParserMethods:
    """Whoever takes these on has an `evaluator`."""

    def __init__(self):
        self.parsers = []
        self.exclusives = 0

    def new_parser(self, keywords, is_old=False):
        parser = Parser(keywords)
        parser.is_old = is_old
        self.inherit(parser, keywords)
        self.parsers.append(parser)
        return parser

    def inherit(self, parser, keywords):
        parents = keywords.get("parents")
        for parent in parents if isinstance(parents, list) else []:
            if isinstance(parent, Parser):
                parser.arguments.extend(parent.arguments)

    def method(self, owner, name, node):
        parser = owner.parser if isinstance(owner, Group) else owner
        if name == "add_parser" and isinstance(owner, Commands):
            return self.add_command(owner, node)
        if not isinstance(parser, Parser):
            return Unknown(node)
        if name in ("add_argument", "add_option"):
            self.add_argument(parser, owner, node)
            return Unknown(node)
        if name in ("add_argument_group", "add_mutually_exclusive_group"):
            return self.add_group(parser, owner, name, node)
        if name == "add_subparsers":
            parser.commands = parser.commands or Commands(self.keywords(node), parser)
            return parser.commands
        parser.used = name
        return Unknown(node)

    def add_group(self, parser, owner, name, node):
        if name == "add_argument_group":
            return Group(parser, owner.exclusive if isinstance(owner, Group) else None)
        self.exclusives += 1
        return Group(parser, Exclusive(self.exclusives, self.keywords(node).get("required") is True))

    def add_command(self, commands, node):
        keywords = self.keywords(node)
        name = self.evaluator.evaluate(node.args[0]) if node.args else keywords.get("name")
        parser = Parser(keywords)
        parser.is_command = True
        self.inherit(parser, keywords)
        if isinstance(name, str):
            commands.parsers.append((name, keywords, parser))
        return parser

    def add_argument(self, parser, owner, node):
        flags = self.evaluator.all_known(node.args)
        exclusive = owner.exclusive if isinstance(owner, Group) else None
        keywords = self.keywords(node)
        known = flags is not None and all(isinstance(flag, str) for flag in flags) and (flags or isinstance(keywords.get("dest"), str))
        argument = (flags if known else None, keywords, exclusive)
        # Both sides of a condition may add the same flag; the later one also wins where argparse is told to resolve it.
        for index, (others, _, _) in enumerate(parser.arguments):
            if known and others and flags and flags[0] in others and flags[0].startswith("-"):
                parser.arguments[index] = argument
                return
        parser.arguments.append(argument)

    def keywords(self, node):
        found = {}
        for keyword in node.keywords:
            value = self.evaluator.evaluate(keyword.value) if not isinstance(keyword.value, ast.Lambda) else keyword.value
            if keyword.arg is not None:
                found[keyword.arg] = value
            elif isinstance(value, dict):
                found.update({key: item for key, item in value.items() if isinstance(key, str)})
        return found
