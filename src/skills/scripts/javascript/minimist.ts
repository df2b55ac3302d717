import { argumentsOf, callAt, findCalls, type Call } from "../code/calls.ts";
import type { Code } from "../code/code.ts";
import { entryOf, textOf, textsOf, toJson, type Literal } from "../code/literals.ts";
import { isToken } from "../code/token.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import type { HelpTexts } from "../hand/help-texts.ts";

/** The small parsers that take lists of names: minimist, mri, yargs-parser, getopts, and `parseArgs` of Deno's standard library. */
const parsers = ["minimist", "mri", "yargsParser", "getopts", "parseArgs", "parse", "parseFlags"];

/** Reads `minimist(process.argv.slice(2), { string: […], boolean: […], alias: {…}, default: {…} })`. */
export function fromMinimist(code: Code, help: HelpTexts): DerivedInterface | undefined {
  for (const parser of parsers) {
    const calls = code.functions.has(parser) ? [] : [...findCalls(code, parser), ...requiredCalls(code, parser)];
    const config = calls.map((call) => configOf(code, call)).find((found) => found !== undefined);
    const flags = config === undefined ? [] : toFlags(config, help);
    if (flags.length === 0) continue;
    return {
      commands: [{ parameters: [...flags, ...positionalsOf(code, help)], separator: "needed" }],
      confidence: "declared",
      source: parser.startsWith("parse") ? "parseArgs" : parser,
    };
  }
  return undefined;
}

/** `require("minimist")(process.argv.slice(2), …)` */
function requiredCalls(code: Code, name: string): readonly Call[] {
  return code.tokens.flatMap((token, index) => {
    const isRequired = token.kind === "string" && token.text === name && isToken(code.tokens[index - 2], "require");
    const call = isRequired ? callAt(code, index + 1) : undefined;
    return call === undefined ? [] : [call];
  });
}

/** The settings of a call whose first argument is the list of arguments. */
function configOf(code: Code, call: Call): Literal | undefined {
  const first = code.tokens[call.ranges[0]?.[0] ?? -1]?.text ?? "";
  if (!/^(?:process|Deno|Bun|args|argv|hideBin)$/u.test(first)) return undefined;
  const config = argumentsOf(code, call)[1];
  return config?.kind === "object" ? config : undefined;
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
function positionalsOf({ tokens }: Code, help: HelpTexts): readonly Parameter[] {
  const isRead = tokens.some((token, index) => token.text === "_" && isToken(tokens[index - 1], "."));
  return isRead || tokens.some((token) => token.text === "positionals") ? help.positionals([]) : [];
}

/** Reads `arg({ "--port": Number, "-p": "--port" })`. */
export function fromArg(code: Code, help: HelpTexts): DerivedInterface | undefined {
  if (!code.tokens.some((token) => token.kind === "string" && token.text === "arg")) return undefined;
  for (const call of findCalls(code, "arg")) {
    const [config] = argumentsOf(code, call);
    if (config?.kind !== "object" || !config.entries.some(([key]) => key.startsWith("--"))) continue;
    const flags = config.entries.flatMap(([flag, type]) => {
      if (!flag.startsWith("--") || flag === "--help" || flag === "--version") return [];
      const short = config.entries.filter(([, target]) => textOf(target) === flag).map(([key]) => key);
      return [toTyped([flag, ...short], type, help)];
    });
    return {
      commands: [{ parameters: [...flags, ...positionalsOf(code, help)], separator: "needed" }],
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
  if (!code.tokens.some((token) => token.kind === "string" && token.text === "meow")) return undefined;
  for (const call of findCalls(code, "meow")) {
    const config = argumentsOf(code, call).find((value) => entryOf(value, "flags") !== undefined);
    const flags = entryOf(config, "flags");
    if (flags?.kind !== "object") continue;
    const isRead = code.tokens.some((token, index) => token.text === "input" && isToken(code.tokens[index - 1], "."));
    const positionals = isRead ? help.positionals([]) : [];
    const parameters = flags.entries.map(([name, settings]) => toMeowFlag(name, settings, help));
    return {
      commands: [{ parameters: [...parameters, ...positionals], separator: "needed" }],
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
