import { argumentsOf, findCalls } from "../code/calls.ts";
import type { Code } from "../code/code.ts";
import { entryOf, textOf, toJson, type Literal } from "../code/literals.ts";
import { isToken } from "../code/token.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import type { HelpTexts } from "../hand/help-texts.ts";
import { numberOfProperty } from "./number-of-property.ts";

/** Reads `parseArgs({ options: { … } })` of `node:util`. */
export function fromParseArgs(code: Code, help: HelpTexts): DerivedInterface | undefined {
  const name = nameOfParseArgs(code);
  if (code.functions.has(name)) return undefined;
  for (const call of findCalls(code, name)) {
    const [config] = argumentsOf(code, call);
    const options = entryOf(config, "options");
    if (options?.kind !== "object") continue;
    const allowsNegative = toJson(entryOf(config, "allowNegative")) === true;
    const flags = options.entries.flatMap(([name, option]) => toFlag(code, { name, option, allowsNegative }, help));
    const hasPositionals =
      toJson(entryOf(config, "allowPositionals")) === true || toJson(entryOf(config, "strict")) === false;
    const positionals = hasPositionals ? help.positionals(namesOfPositionals(code)) : [];
    return {
      commands: [{ parameters: [...flags, ...positionals], separator: "needed" }],
      confidence: "declared",
      source: "parseArgs",
    };
  }
  return undefined;
}

/** `import { parseArgs as parse }`, `const { parseArgs: parse } = require("util")` */
function nameOfParseArgs({ tokens }: Code): string {
  const at = tokens.findIndex(
    (token, index) =>
      isToken(token, "parseArgs") && (isToken(tokens[index + 1], "as") || isToken(tokens[index + 1], ":")),
  );
  const alias = at === -1 ? undefined : tokens[at + 2];
  return alias?.kind === "word" ? alias.text : "parseArgs";
}

interface Option {
  readonly name: string;
  readonly option: Literal;
  readonly allowsNegative: boolean;
}

function toFlag(code: Code, { name, option, allowsNegative }: Option, help: HelpTexts): readonly Parameter[] {
  if (name === "help" || name === "version") return [];
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
  const type = numberOfProperty(code, ["values", "args", "flags", "options", "argv"], name);
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

/** The names that the code gives to positionals: `const [input, output] = positionals`, `const input = positionals[0]`. */
function namesOfPositionals({ tokens }: Code): readonly string[] {
  const names: string[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.text !== "positionals" || token.kind !== "word") continue;
    const place = isToken(tokens[index + 1], "[") ? Number(tokens[index + 2]?.text) : Number.NaN;
    const name = tokens[index - 2];
    if (Number.isInteger(place) && place < 20 && isToken(tokens[index - 1], "=") && name?.kind === "word")
      names[place] ??= name.text;
    if (isToken(tokens[index - 1], "=") && isToken(tokens[index - 2], "]")) readPattern(names, tokens, index - 2);
  }
  return Array.from(names, (name, place) => name ?? `arg${place + 1}`);
}

function readPattern(names: string[], tokens: Code["tokens"], close: number): void {
  let open = close;
  while (open > 0 && close - open < 40 && !isToken(tokens[open], "[")) open -= 1;
  let place = 0;
  for (let index = open + 1; index < close; index++) {
    const token = tokens[index];
    if (isToken(token, ",")) place += 1;
    else if (token?.kind === "word" && names[place] === undefined)
      names[place] = isToken(tokens[index - 1], "...") ? `...${token.text}` : token.text;
  }
}
