import type { Code } from "../code/code.ts";
import { argumentsOf, entryOf, isWhole, textOf, toJson, type Literal } from "../code/literals.ts";
import { lastName, textOf as textIn, numberOf, type CodeNode } from "../code/node.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import type { HelpTexts } from "../arguments/help-texts.ts";
import { numberMade } from "../arguments/read-positions.ts";

/** Reads `parseArgs({ options: { … } })` of `node:util`. */
export function fromParseArgs(code: Code, help: HelpTexts): DerivedInterface | undefined {
  const name = importedName(code, "parseArgs");
  // Deno's `parseArgs(args, settings)` is another one.
  const call = code.callsOf(name).find(({ callee, args }) => callee.kind === "name" && args.length < 2);
  if (call === undefined || code.functions.has(name)) return undefined;
  const [config] = argumentsOf(code, call);
  const options = entryOf(config, "options");
  if (call.args.length === 0) return undefined;
  const allowsNegative = toJson(entryOf(config, "allowNegative")) === true;
  const entries = options?.kind === "object" ? options.entries : [];
  const flags = entries.flatMap(([flag, option]) => toFlag(code, { name: flag, option, allowsNegative }, help));
  const takesPlaces =
    toJson(entryOf(config, "allowPositionals")) === true || toJson(entryOf(config, "strict")) === false;
  const positionals = takesPlaces ? help.positionals(namesOfPositionals(code)) : [];
  const isKnown =
    config?.kind === "object" && isWhole(config) && isWhole(options) && entries.every(([, option]) => isTyped(option));
  return {
    commands: [{ parameters: [...flags, ...positionals], separator: "needed", ...(!isKnown && { open: true }) }],
    confidence: "declared",
    source: "parseArgs",
  };
}

/** `import { parseArgs as parse }`, `const { parseArgs: parse } = require("util")` */
function importedName({ all }: Code, wanted: string): string {
  for (const node of all) {
    if (node.kind === "import") {
      const found = node.names.find(({ imported }) => imported === wanted);
      if (found !== undefined) return found.local;
    }
    if (node.kind === "entry" && node.key === wanted && node.value.kind === "name") return node.value.name;
  }
  return wanted;
}

function isTyped(option: Literal): boolean {
  return textOf(entryOf(option, "type")) !== undefined;
}

interface Option {
  readonly name: string;
  readonly option: Literal;
  readonly allowsNegative: boolean;
}

function toFlag(code: Code, { name, option, allowsNegative }: Option, help: HelpTexts): readonly Parameter[] {
  if (name === "help" || name === "version" || !isTyped(option)) return [];
  const flags = [`--${name}`];
  const short = textOf(entryOf(option, "short"));
  if (short !== undefined) flags.push(`-${short}`);
  const text = help.flag(flags);
  const fallback = toJson(entryOf(option, "default"));
  if (textOf(entryOf(option, "type")) === "boolean") {
    const opposite = allowsNegative ? `--no-${name}` : undefined;
    return [switchFlag({ flags, opposite, default: fallback, description: text.description })];
  }
  const isMany = toJson(entryOf(option, "multiple")) === true;
  const type = numberOfProperty(code, name);
  // Whatever the code makes of it, the default is text.
  const value = type !== undefined && typeof fallback === "string" ? Number(fallback) : fallback;
  return [
    valueFlag({
      flags,
      type,
      default: value ?? text.default,
      choices: text.choices,
      description: text.description,
      required: text.required || help.isDemanded(name),
      many: isMany ? "repeat" : undefined,
      joint: "=",
    }),
  ];
}

const owners = /^(?:values|args|flags|options|argv)$/u;

/** The kind of number that the code makes of a property: `Number(values.port)`, `parseInt(values["max-size"], 10)`. */
function numberOfProperty({ calls }: Code, name: string): "integer" | "number" | undefined {
  const call = calls.find(({ args: [first], ...one }) => {
    if (first === undefined || numberMade({ ...one, args: [first] }) === undefined) return false;
    return propertyOf(first)?.name === name && owners.test(propertyOf(first)?.owner ?? "");
  });
  return numberMade(call);
}

function propertyOf(
  node: CodeNode,
): { readonly owner: string | undefined; readonly name: string | undefined } | undefined {
  if (node.kind === "operation" && node.operands[0]) return propertyOf(node.operands[0]);
  if (node.kind === "member") return { owner: lastName(node.object), name: node.property };
  return node.kind === "index" ? { owner: lastName(node.object), name: textIn(node.index) } : undefined;
}

/** The names that the code gives to positionals: `const [input, output] = positionals`, `const input = positionals[0]`. */
function namesOfPositionals({ assigns }: Code): readonly string[] {
  const names: string[] = [];
  const isList = (node: CodeNode): boolean => lastName(node) === "positionals";
  for (const { target, value } of assigns) {
    const place = value.kind === "index" && isList(value.object) ? numberOf(value.index) : undefined;
    if (place !== undefined && place < 20 && target.kind === "name") names[place] ??= target.name;
    const items = target.kind === "list" && isList(value) ? target.items : [];
    for (const [index, item] of items.entries()) names[index] ??= nameOfItem(item) ?? `arg${index + 1}`;
  }
  return Array.from(names, (name, place) => name ?? `arg${place + 1}`);
}

/** `input`, `output = "x"`, `...rest` */
function nameOfItem(item: CodeNode): string | undefined {
  if (item.kind === "spread") return item.operand.kind === "name" ? `...${item.operand.name}` : undefined;
  return lastName(item.kind === "assign" ? item.target : item);
}
