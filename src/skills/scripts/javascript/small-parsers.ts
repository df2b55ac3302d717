import type { HelpTexts } from "../arguments/help-texts.ts";
import type { Code } from "../code/code.ts";
import { argumentsOf, entryOf, isWhole, readLiteral, textOf, textsOf, toJson, type Literal } from "../code/literals.ts";
import { dottedName, lastName, textOf as textIn, type Call, type CodeNode } from "../code/node.ts";
import type { DerivedCommand, DerivedInterface } from "../derived-interface.ts";
import { positional, switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import { withoutUndefined } from "../without-undefined.ts";

/** The small parsers that take lists of names: minimist, mri, yargs-parser, getopts, and `parseArgs` of Deno's standard library. */
const parsers = ["minimist", "mri", "yargsParser", "getopts", "parseArgs", "parse", "parseFlags"];

/** Reads `minimist(process.argv.slice(2), { string: […], boolean: […], alias: {…}, default: {…} })`. */
export function fromMinimist(code: Code, help: HelpTexts): DerivedInterface | undefined {
  for (const parser of parsers) {
    const calls = code.functions.has(parser) ? [] : code.calls.filter((call) => isCallOf(call, parser));
    const call = calls.find(({ args: [first, second] }) => second !== undefined && isArgumentList(first));
    const config = readLiteral(code, call?.args[1]);
    const flags = config.kind === "object" ? toFlags(config, help) : [];
    const isKnown = config.kind === "object" && isWhole(config) && config.entries.every(([, value]) => isWhole(value));
    if (call === undefined || (flags.length === 0 && isKnown)) continue;
    const parameters = [...flags, ...positionalsOf(code, help)];
    return {
      commands: [{ parameters, separator: "needed", ...(!isKnown && { open: true }) }],
      confidence: "declared",
      source: parser.startsWith("parse") ? "parseArgs" : parser,
    };
  }
  return undefined;
}

/** `minimist(…)`, `require("minimist")(…)` */
function isCallOf({ callee }: Call, name: string): boolean {
  if (lastName(callee) === name) return true;
  return callee.kind === "call" && lastName(callee.callee) === "require" && textIn(callee.args[0]) === name;
}

/** The list of arguments, under its usual names. */
function isArgumentList(node: CodeNode | undefined): boolean {
  if (node?.kind === "call") return isArgumentList(node.callee);
  if (node?.kind === "member" && node.property === "slice") return isArgumentList(node.object);
  return /^(?:process\.argv|Deno\.args|Bun\.argv|args|argv|hideBin)$/u.test(
    dottedName(node ?? { kind: "hole", start: 0 }) ?? "",
  );
}

function toFlags(config: Literal, help: HelpTexts): readonly Parameter[] {
  const texts = new Set(textsOf(entryOf(config, "string")));
  const switches = new Set(textsOf(entryOf(config, "boolean")));
  const many = new Set([...textsOf(entryOf(config, "collect")), ...textsOf(entryOf(config, "array"))]);
  const numbers = new Set(textsOf(entryOf(config, "number")));
  const defaults = entryOf(config, "default");
  const defaultNames = defaults?.kind === "object" ? defaults.entries.map(([name]) => name) : [];
  const names = [...new Set([...texts, ...switches, ...many, ...numbers, ...defaultNames])];
  const aliases = aliasesIn(entryOf(config, "alias"));
  const isAlias = new Set([...aliases.values()].flat());
  return names
    .filter((name) => !isAlias.has(name) && !/^(?:help|h|version|v|_)$/u.test(name))
    .map((name) => {
      const flags = [name, ...(aliases.get(name) ?? [])].map(toFlag);
      const fallback = toJson(entryOf(defaults, name));
      const text = help.flag(flags);
      const facts = { flags, default: fallback ?? text.default, description: text.description };
      if (switches.has(name) || typeof fallback === "boolean")
        return switchFlag({ ...facts, opposite: `--no-${name}` });
      const type = numbers.has(name) || typeof fallback === "number" ? "number" : undefined;
      return valueFlag({
        ...facts,
        type,
        choices: text.choices,
        required: text.required,
        joint: "=",
        many: many.has(name) ? "repeat" : undefined,
      });
    });
}

function toFlag(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`;
}

/** Aliases are written both ways: `{ o: "out" }` and `{ out: "o" }`. The long name is the name. */
function aliasesIn(literal: Literal | undefined): ReadonlyMap<string, readonly string[]> {
  const aliases = new Map<string, string[]>();
  if (literal?.kind !== "object") return aliases;
  for (const [key, value] of literal.entries) {
    const [name = key, ...others] = [key, ...textsOf(value)].toSorted((left, right) => right.length - left.length);
    aliases.set(name, [...(aliases.get(name) ?? []), ...others]);
  }
  return aliases;
}

/** `argv._` is what is left over. */
function positionalsOf({ all }: Code, help: HelpTexts): readonly Parameter[] {
  const isRead = all.some(
    (node) => (node.kind === "member" && node.property === "_") || lastName(node) === "positionals",
  );
  return isRead ? help.positionals([]) : [];
}

/** Whether the script loads a package. */
function uses({ all }: Code, name: string): boolean {
  return all.some((node) => (node.kind === "import" ? node.module : textIn(node)) === name);
}

/** Reads `arg({ "--port": Number, "-p": "--port" })`. */
export function fromArg(code: Code, help: HelpTexts): DerivedInterface | undefined {
  if (!uses(code, "arg")) return undefined;
  for (const call of code.callsOf("arg")) {
    const [config] = argumentsOf(code, call);
    const entries = config?.kind === "object" ? config.entries : [];
    const isKnown = isWhole(config);
    if (isKnown && !entries.some(([key]) => key.startsWith("--"))) continue;
    const flags = entries.flatMap(([flag, type]) => {
      if (!flag.startsWith("--") || flag === "--help" || flag === "--version") return [];
      const short = entries.filter(([, target]) => textOf(target) === flag).map(([key]) => key);
      return [toTyped([flag, ...short], type, help)];
    });
    const parameters = [...flags, ...positionalsOf(code, help)];
    return {
      commands: [{ parameters, separator: "needed", ...(!isKnown && { open: true }) }],
      confidence: "declared",
      source: "arg",
    };
  }
  return undefined;
}

function toTyped(flags: readonly string[], type: Literal, help: HelpTexts): Parameter {
  const isMany = type.kind === "list";
  const item = isMany ? type.items[0] : type;
  const name = item?.kind === "name" ? item.name : "";
  const text = help.flag(flags);
  if (name === "Boolean" && !isMany) return switchFlag({ flags, description: text.description });
  return valueFlag({
    flags,
    type: name === "Number" ? "number" : undefined,
    description: text.description,
    choices: text.choices,
    default: text.default,
    many: isMany ? "repeat" : undefined,
    joint: "=",
  });
}

/** Reads `meow(help, { flags: { … } })`. */
export function fromMeow(code: Code, help: HelpTexts): DerivedInterface | undefined {
  if (!uses(code, "meow")) return undefined;
  for (const call of code.callsOf("meow")) {
    const config = argumentsOf(code, call).find((value) => entryOf(value, "flags") !== undefined);
    const flags = entryOf(config, "flags");
    if (flags === undefined) continue;
    const isRead = code.all.some((node) => node.kind === "member" && node.property === "input");
    const positionals = isRead ? help.positionals([]) : [];
    const entries = flags.kind === "object" ? flags.entries : [];
    const parameters = entries.map(([name, settings]) => toMeowFlag(name, settings, help));
    const isKnown = flags.kind === "object" && isWhole(flags);
    return {
      commands: [{ parameters: [...parameters, ...positionals], separator: "needed", ...(!isKnown && { open: true }) }],
      confidence: "declared",
      source: "meow",
    };
  }
  return undefined;
}

function toMeowFlag(name: string, settings: Literal, help: HelpTexts): Parameter {
  const long = `--${name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`;
  const short = textOf(entryOf(settings, "shortFlag") ?? entryOf(settings, "alias"));
  const flags = [long, ...(short === undefined ? [] : [toFlag(short)])];
  const text = help.flag(flags);
  const type = textOf(entryOf(settings, "type"));
  const facts = { flags, default: toJson(entryOf(settings, "default")), description: text.description };
  if (type === "boolean") return switchFlag({ ...facts, opposite: long.replace("--", "--no-") });
  const choices = entryOf(settings, "choices");
  return valueFlag({
    ...facts,
    type: type === "number" ? "number" : undefined,
    choices: choices === undefined ? text.choices : textsOf(choices),
    required: toJson(entryOf(settings, "isRequired")) === true,
    many: toJson(entryOf(settings, "isMultiple")) === true ? "repeat" : undefined,
    joint: "=",
  });
}

/** Reads `defineCommand({ meta, args, subCommands })` of citty. */
export function fromCitty(code: Code): DerivedInterface | undefined {
  const calls = code.callsOf("defineCommand").map((call) => argumentsOf(code, call)[0]);
  const configs = calls.filter((config) => config?.kind === "object");
  if (configs.length === 0) return undefined;
  const root = configs.find((config) => entryOf(config, "subCommands") !== undefined);
  const leaves = configs.filter((config) => config !== root && entryOf(config, "args") !== undefined);
  if (root === undefined) {
    const [only] = leaves;
    return only === undefined ? undefined : toCittyInterface([toCittyCommand(only, [])]);
  }
  const commands = leaves
    .map((config) => toCittyCommand(config, [nameOf(config)]))
    .filter(({ words }) => words?.[0] !== "");
  return commands.length === 0 ? undefined : toCittyInterface(commands);
}

function toCittyInterface(commands: readonly DerivedCommand[]): DerivedInterface {
  return { commands, confidence: "declared", source: "citty" };
}

function nameOf(config: Literal | undefined): string {
  return textOf(entryOf(entryOf(config, "meta"), "name")) ?? "";
}

function toCittyCommand(config: Literal | undefined, words: readonly string[]): DerivedCommand {
  const args = entryOf(config, "args");
  const entries = args?.kind === "object" ? args.entries : [];
  const parameters = entries.map(([name, settings]) => toCittyParameter(name, settings));
  const isPlace = (parameter: Parameter): boolean => parameter.part.kind === "positional";
  return withoutUndefined<DerivedCommand>({
    parameters: [...parameters.filter((parameter) => !isPlace(parameter)), ...parameters.filter(isPlace)],
    words: words.length === 0 ? undefined : words,
    separator: "needed",
    description: textOf(entryOf(entryOf(config, "meta"), "description")),
    open: args === undefined || (args.kind === "object" && isWhole(args)) ? undefined : true,
  });
}

function toCittyParameter(name: string, settings: Literal): Parameter {
  const type = textOf(entryOf(settings, "type"));
  const facts = {
    description: textOf(entryOf(settings, "description")),
    default: toJson(entryOf(settings, "default")),
    required: toJson(entryOf(settings, "required")),
  };
  if (type === "positional") return positional({ ...facts, name, required: facts.required !== false });
  const flags = [name, ...textsOf(entryOf(settings, "alias"))].map((flag) =>
    flag.length === 1 ? `-${flag}` : `--${flag}`,
  );
  if (type === "boolean") return switchFlag({ ...facts, flags, opposite: `--no-${name}`, required: false });
  const options = entryOf(settings, "options");
  return valueFlag({
    ...facts,
    flags,
    choices: options === undefined ? undefined : textsOf(options),
    required: facts.required === true,
    joint: "=",
  });
}
