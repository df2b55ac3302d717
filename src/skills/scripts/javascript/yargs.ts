import { countStep } from "../code/budget.ts";
import { argumentsOf, callAt, type Call } from "../code/calls.ts";
import type { Code } from "../code/code.ts";
import { entryOf, textOf, textsOf, toJson, type Literal } from "../code/literals.ts";
import { isToken } from "../code/token.ts";
import type { DerivedCommand, DerivedInterface } from "../derived-interface.ts";
import { positional, switchFlag, valueFlag } from "../flag-parameter.ts";
import type { HelpTexts } from "../hand/help-texts.ts";
import { toPropertyName, type Parameter } from "../parameter.ts";
import type { ValueFacts } from "../value-schema.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { splitCommand, toArgument } from "./flag-notation.ts";

interface OpenCommand {
  readonly words: readonly string[];
  readonly description?: string;
  /** The tokens of the call that defines it; what stands in them belongs to it. */
  readonly range: readonly [number, number];
  readonly options: Parameter[];
  readonly arguments: Parameter[];
}

/** Reads the chains of yargs. */
export function fromYargs(code: Code, help: HelpTexts): DerivedInterface | undefined {
  const isUsed = code.tokens.some(
    (token) => token.kind === "string" && /^yargs(?:\/yargs|\/helpers)?$/u.test(token.text),
  );
  if (!isUsed) return undefined;
  const root: OpenCommand = { words: [], range: [0, code.tokens.length], options: [], arguments: [] };
  const commands: OpenCommand[] = [];
  for (const [index, token] of code.tokens.entries()) {
    if (token.kind !== "word" || !isToken(code.tokens[index - 1], ".")) continue;
    const call = callAt(code, index);
    if (call === undefined) continue;
    const owner = commands.findLast(({ range }) => isWithin(index, range)) ?? root;
    readMethod(code, token.text, { call, owner, commands, root });
  }
  if (commands.length === 0) root.arguments.push(...placesOf(code, help));
  const all = commands.length === 0 ? [root] : commands;
  if (
    all.every((command) => command.options.length === 0 && command.arguments.length === 0 && command.words.length === 0)
  )
    return undefined;
  return {
    commands: all.slice(0, 100).map((command) => toCommand(command, root)),
    confidence: "declared",
    source: "yargs",
  };
}

function isWithin(index: number, [from, to]: readonly [number, number]): boolean {
  countStep();
  return index > from && index < to;
}

/** Without commands, what is no option is in `_`; the usage line has the names. */
function placesOf({ tokens }: Code, help: HelpTexts): readonly Parameter[] {
  const readsMore = tokens.some(
    (token, index) => isToken(token, "demandCommand") || (isToken(token, "_") && isToken(tokens[index - 1], ".")),
  );
  const places = help.positionals([]);
  return readsMore || places.some(({ part }) => part.property !== "args") ? places : [];
}

interface MethodPlace {
  readonly call: Call;
  readonly owner: OpenCommand;
  readonly commands: OpenCommand[];
  readonly root: OpenCommand;
}

function readMethod(code: Code, method: string, { call, owner, commands, root }: MethodPlace): void {
  const values = argumentsOf(code, call);
  switch (method) {
    case "option":
    case "options": {
      const entries =
        values[0]?.kind === "object" ? values[0].entries : [[textOf(values[0]) ?? "", values[1]] as const];
      for (const [name, settings] of entries) if (name !== "") owner.options.push(toOption(name, settings));
      return;
    }
    case "positional": {
      const name = textOf(values[0]) ?? "";
      const place = owner.arguments.findIndex(({ part }) => {
        countStep();
        return part.property === name;
      });
      const before = owner.arguments[place];
      if (before !== undefined) owner.arguments[place] = toPositional(name, values[1], before);
      return;
    }
    case "count":
      for (const name of textsOf(values[0])) owner.options.push(toCounter(name));
      return;
    case "command":
      return addCommand(values, { call, owner, commands, root });
    default:
  }
}

function addCommand([first, second]: readonly Literal[], { call, commands, root }: MethodPlace): void {
  // `.command({ command: "add <name>", describe: "…", builder: { … } })` says the same as `.command("add <name>", "…", …)`.
  const notation = first?.kind === "object" ? entryOf(first, "command") : first;
  const text = first?.kind === "object" ? (entryOf(first, "describe") ?? entryOf(first, "desc")) : second;
  const { name, arguments: places } = splitCommand(textOf(notation) ?? textsOf(notation)[0] ?? "");
  if (name === "") return;
  const isDefault = name === "$0" || name === "*";
  const command = withoutUndefined<OpenCommand>({
    words: isDefault ? [] : [name],
    description: textOf(text),
    range: [call.open, call.close],
    options: isDefault ? root.options : optionsIn(entryOf(first, "builder")),
    arguments: places.map((place) => toArgument(place)).filter((parameter) => parameter !== undefined),
  });
  commands.push(command);
}

function optionsIn(builder: Literal | undefined): Parameter[] {
  return builder?.kind === "object" ? builder.entries.map(([name, settings]) => toOption(name, settings)) : [];
}

function toCounter(name: string): Parameter {
  const flag = name.length === 1 ? `-${name}` : `--${name}`;
  return {
    part: { kind: "count", property: toPropertyName(name), flag },
    schema: { type: "integer", minimum: 0 },
    required: false,
  };
}

function toCommand(command: OpenCommand, root: OpenCommand): DerivedCommand {
  const globals = command === root || command.options === root.options ? [] : root.options;
  const options = [...globals, ...command.options];
  // A list takes all words that follow it. What a command names must stand before its options: after `--` it is not looked for.
  const isOfCommand = command !== root && command.arguments.length > 0;
  return withoutUndefined<DerivedCommand>({
    parameters: isOfCommand ? [...command.arguments, ...options] : [...options, ...command.arguments],
    words: command.words.length === 0 ? undefined : command.words,
    separator: isOfCommand ? undefined : options.some(isList) ? "always" : "needed",
    description: command.description,
  });
}

function isList({ part }: Parameter): boolean {
  return part.kind === "flag" && part.many !== undefined;
}

function typeIn(settings: Literal | undefined): ValueFacts["type"] | "count" {
  const type = textOf(entryOf(settings, "type"));
  if (type === "number" || type === "boolean" || type === "count" || type === "string") return type;
  if (toJson(entryOf(settings, "boolean")) === true) return "boolean";
  return toJson(entryOf(settings, "number")) === true ? "number" : undefined;
}

function factsIn(settings: Literal | undefined): Omit<ValueFacts, "many"> & { readonly required: boolean } {
  const text = ["describe", "description", "desc"]
    .map((key) => textOf(entryOf(settings, key)))
    .find((found) => found !== undefined);
  const choices = entryOf(settings, "choices");
  const demand = entryOf(settings, "demandOption") ?? entryOf(settings, "demand") ?? entryOf(settings, "required");
  const type = typeIn(settings);
  const demanded = toJson(demand);
  return {
    description: text,
    type: type === "count" ? "integer" : type,
    choices: choices === undefined ? undefined : textsOf(choices),
    default: toJson(entryOf(settings, "default")),
    required: demanded === true || typeof demanded === "string",
  };
}

function toOption(name: string, settings: Literal | undefined): Parameter {
  const aliases = textsOf(entryOf(settings, "alias") ?? entryOf(settings, "aliases"));
  const flags = [name, ...aliases].map((flag) => (flag.length === 1 ? `-${flag}` : `--${flag}`));
  const facts = factsIn(settings);
  const type = typeIn(settings);
  if (type === "count") return toCounter(name);
  const isSwitch = type === "boolean" || (type === undefined && typeof facts.default === "boolean");
  if (isSwitch) return switchFlag({ ...facts, flags, opposite: `--no-${name}` });
  const isMany = textOf(entryOf(settings, "type")) === "array" || toJson(entryOf(settings, "array")) === true;
  return valueFlag({ ...facts, flags, joint: "=", many: isMany ? "repeat" : undefined });
}

function toPositional(name: string, settings: Literal | undefined, before: Parameter): Parameter {
  const facts = factsIn(settings);
  const many = before.part.kind === "positional" && before.part.many === true;
  return positional({ ...facts, name, many, required: before.required || facts.required });
}
