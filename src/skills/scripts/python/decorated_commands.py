"""Reads commands that are declared by decorators or by a call: click, typer, fire."""

import ast

from encoded_facts import encode, text_of
from known_values import Callable, EnumClass, Evaluator, Unknown, dotted_name, enum_members
from parser_parts import Lazy
from signatures import describe_signature

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class ModuleValues:
    """The constants and enumerations of a module, by name."""

    def __init__(self, tree, budget):
        self.names = {}
        self.functions = {}
        self.classes = {}
        self.evaluator = Evaluator(self.look_up, lambda node, evaluator: None, budget)
        for node in tree.body:
            self.add(node)

    def add(self, node):
        if isinstance(node, ast.ClassDef):
            self.classes[node.name] = node
            members = enum_members(node)
            self.names[node.name] = Callable(node.name) if members is None else EnumClass(node.name, members)
        elif isinstance(node, FUNCTIONS):
            self.functions[node.name] = node
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self.names.setdefault(node.targets[0].id, Lazy(node.value))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            self.names.setdefault(node.target.id, Lazy(node.value))
        elif isinstance(node, (ast.If, ast.Try)):
            for inner in node.body:
                self.add(inner)

    def look_up(self, name, node):
        value = self.names.get(name)
        if isinstance(value, Lazy):
            self.names[name] = Unknown(node)
            value = self.names[name] = self.evaluator.evaluate(value.node)
        return Callable(name) if value is None else value


def read_commands(tree, source, budget):
    found = {}
    uses_click, uses_typer, uses_fire = ("click" in source, "typer" in source or "Typer" in source, "import fire" in source or "from fire" in source)
    if not (uses_click or uses_typer or uses_fire):
        return found
    module = ModuleValues(tree, budget)
    if uses_click:
        commands = read_click(module)
        if commands:
            found["click"] = commands
    if uses_typer:
        commands = read_typer(tree, module)
        if commands:
            found["typer"] = commands
    if uses_fire:
        commands = read_fire(tree, module)
        if commands:
            found["fire"] = commands
    return found


def last_name(node):
    name = dotted_name(node.func if isinstance(node, ast.Call) else node)
    return (name or "").split(".")[-1], name or ""


# click


def read_click(module):
    commands = []
    for node in module.functions.values():
        command = read_click_function(node, module)
        if command is not None:
            commands.append(command)
    return commands[:200]


def read_click_function(node, module):
    kind = None
    options = []
    for decorator in node.decorator_list:
        last, whole = last_name(decorator)
        owner = whole.rsplit(".", 1)[0] if "." in whole else None
        if last in ("command", "group"):
            kind = last
            keywords = keywords_of(decorator, module)
            names = [text_of(module.evaluator.evaluate(item)) for item in decorator.args] if isinstance(decorator, ast.Call) else []
            name = next((item for item in names if item), None) or value_of(keywords.get("name"))
            parent = None if owner in (None, "click", "rich_click", "asyncclick") else owner
        elif last in ("option", "argument"):
            options.append(read_click_option(decorator, last, module))
        elif last == "version_option" or last == "pass_context":
            continue
        elif last in module.functions:
            options.extend(shared_options(module.functions[last], module))
    if kind is None:
        return None
    doc = text_of(ast.get_docstring(node))
    return {
        "function": node.name,
        "kind": kind,
        "name": name,
        "parent": parent,
        "help": value_of(keywords.get("help")) or value_of(keywords.get("short_help")) or doc,
        "options": [option for option in options if option is not None],
    }


def value_of(encoded):
    return encoded.get("value") if isinstance(encoded, dict) and isinstance(encoded.get("value"), str) else None


def keywords_of(call, module):
    if not isinstance(call, ast.Call):
        return {}
    return {word.arg: encode_type(word.value, module) for word in call.keywords if word.arg is not None}


def encode_type(node, module):
    """A keyword's value; the types of click keep their name and arguments."""
    if isinstance(node, ast.Call):
        last, _ = last_name(node)
        if last in ("Choice", "IntRange", "FloatRange", "Path", "File", "DateTime"):
            return {
                "name": last,
                "values": [encode(module.evaluator.evaluate(item)) for item in node.args],
                "keywords": {word.arg: encode(module.evaluator.evaluate(word.value)) for word in node.keywords if word.arg},
            }
    return encode(module.evaluator.evaluate(node))


def read_click_option(call, kind, module):
    if not isinstance(call, ast.Call):
        return None
    names = module.evaluator.all_known(call.args)
    known = names is not None and all(isinstance(name, str) for name in names)
    return {"kind": kind, "names": names if known else None, "keywords": keywords_of(call, module)}


def shared_options(function, module):
    """The options that a decorator of the script's own adds."""
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and last_name(node)[0] in ("option", "argument"):
            found.append(read_click_option(node, last_name(node)[0], module))
    return found[:60]


# typer


def read_typer(tree, module):
    apps = {}
    commands = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and last_name(node.value)[0] == "Typer":
            keywords = keywords_of(node.value, module)
            for target in node.targets:
                if isinstance(target, ast.Name):
                    apps[target.id] = {"parent": None, "name": value_of(keywords.get("name")), "help": value_of(keywords.get("help"))}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        last, whole = last_name(node)
        owner = whole.rsplit(".", 1)[0]
        if last == "add_typer" and owner in apps and node.args:
            child = dotted_name(node.args[0])
            if child in apps:
                apps[child]["parent"] = owner
                apps[child]["name"] = value_of(keywords_of(node, module).get("name")) or apps[child]["name"]
        elif last == "run" and whole in ("typer.run", "run") and node.args and isinstance(node.args[0], ast.Name):
            function = module.functions.get(node.args[0].id)
            if function is not None:
                commands.append({"app": None, "name": None, "help": None, "function": describe_signature(function, module.evaluator)})
    for node in module.functions.values():
        commands.extend(read_typer_function(node, apps, module))
    return {"apps": apps, "commands": commands[:200]} if commands else None


def read_typer_function(node, apps, module):
    for decorator in node.decorator_list:
        last, whole = last_name(decorator)
        owner = whole.rsplit(".", 1)[0]
        if owner not in apps or last not in ("command", "callback"):
            continue
        names = [text_of(module.evaluator.evaluate(item)) for item in decorator.args] if isinstance(decorator, ast.Call) else []
        keywords = keywords_of(decorator, module)
        yield {
            "app": owner,
            "callback": last == "callback",
            "name": next((item for item in names if item), None) or value_of(keywords.get("name")),
            "help": value_of(keywords.get("help")),
            "function": describe_signature(node, module.evaluator),
        }


# fire


def read_fire(tree, module):
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or last_name(node)[1] not in ("fire.Fire", "Fire"):
            continue
        target = node.args[0] if node.args else None
        if isinstance(target, ast.Dict):
            pairs = [(text_of(module.evaluator.evaluate(key)), dotted_name(value)) for key, value in zip(target.keys, target.values) if key]
            return [fire_command(name, module.functions[value], module) for name, value in pairs if name and value in module.functions]
        name = dotted_name(target) if target is not None else None
        if name in module.functions:
            return [fire_command(None, module.functions[name], module)]
        if name in module.classes:
            methods = [item for item in module.classes[name].body if isinstance(item, FUNCTIONS) and not item.name.startswith("_")]
            return [fire_command(item.name, item, module, skip_first=True) for item in methods]
        if target is None:
            return [fire_command(key, value, module) for key, value in module.functions.items() if not key.startswith("_")]
    return []


def fire_command(name, function, module, skip_first=False):
    return {"name": name, "function": describe_signature(function, module.evaluator, skip_first)}
