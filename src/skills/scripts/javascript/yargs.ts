import { around, type Code } from "../code/code.ts";
import { argumentsOf, entryOf, isWhole, textOf, textsOf, toJson, type Literal } from "../code/literals.ts";
import { calledName, textOf as textIn, type Call } from "../code/node.ts";
import type { DerivedCommand, DerivedInterface } from "../derived-interface.ts";
import { positional, switchFlag, valueFlag } from "../flag-parameter.ts";
import type { HelpTexts } from "../arguments/help-texts.ts";
import { toPropertyName, type Parameter } from "../parameter.ts";
import type { ValueFacts } from "../value-schema.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { splitCommand, toArgument } from "./flag-notation.ts";

interface OpenCommand {
  readonly words: readonly string[];
  readonly description?: string;
  readonly options: Parameter[];
  readonly arguments: Parameter[];
  /** It has options that could not be resolved. */
  isOpen: boolean;
}

/** Reads the chains of yargs. */
export function fromYargs(code: Code, help: HelpTexts): DerivedInterface | undefined {
  const isYargs = (text = ""): boolean => /^yargs(?:\/yargs|\/helpers)?$/u.test(text);
  if (!code.all.some((node) => isYargs(node.kind === "import" ? node.module : textIn(node)))) return undefined;
  const root: OpenCommand = { words: [], options: [], arguments: [], isOpen: false };
  const commands = new Map<Call, OpenCommand>();
  // In a chain, the call that stands first ends first.
  const methods = code.calls
    .filter(({ callee }) => callee.kind === "member")
    .toSorted((left, right) => left.end - right.end);
  for (const call of methods) {
    const command = calledName(call) === "command" ? toOpenCommand(argumentsOf(code, call), root) : undefined;
    if (command !== undefined) commands.set(call, command);
  }
  for (const call of methods) readMethod(code, call, ownerOf(code, call, commands) ?? root);
  if (commands.size === 0) root.arguments.push(...placesOf(code, help));
  const all = commands.size === 0 ? [root] : [...commands.values()];
  const isEmpty = ({ options, arguments: places, words, isOpen }: OpenCommand): boolean =>
    options.length === 0 && places.length === 0 && words.length === 0 && !isOpen;
  if (all.every(isEmpty)) return undefined;
  return {
    commands: all.slice(0, 100).map((command) => toCommand(command, root)),
    confidence: "declared",
    source: "yargs",
  };
}

/** The command whose definition a call stands in. */
function ownerOf(code: Code, call: Call, commands: ReadonlyMap<Call, OpenCommand>): OpenCommand | undefined {
  let inner: object = call;
  for (const outer of around(code, call)) {
    if (outer.kind === "call" && outer.callee !== inner && commands.has(outer)) return commands.get(outer);
    inner = outer;
  }
  return undefined;
}

/** Without commands, what is no option is in `_`; the usage line has the names. */
function placesOf({ all }: Code, help: HelpTexts): readonly Parameter[] {
  const readsMore = all.some((node) => node.kind === "member" && /^(?:demandCommand|_)$/u.test(node.property));
  const places = help.positionals([]);
  return readsMore || places.some(({ part }) => part.property !== "args") ? places : [];
}

function readMethod(code: Code, call: Call, owner: OpenCommand): void {
  const [first, second] = argumentsOf(code, call);
  const name = textOf(first) ?? "";
  const method = calledName(call);
  if (method === "option" || method === "options") addOptions(owner, first, second);
  if (method === "count") for (const key of textsOf(first)) owner.options.push(toCounter(key));
  const place = method === "positional" ? owner.arguments.findIndex(({ part }) => part.property === name) : -1;
  const before = owner.arguments[place];
  if (before !== undefined) owner.arguments[place] = toPositional(name, second, before);
}

/** `.option("name", { … })`, `.options({ name: { … } })` */
function addOptions(owner: OpenCommand, first: Literal | undefined, second: Literal | undefined): void {
  const name = textOf(first) ?? "";
  const entries = first?.kind === "object" ? first.entries : [[name, second] as const];
  owner.isOpen ||= first?.kind === "object" ? !isWhole(first) : name === "";
  for (const [key, settings] of entries) if (key !== "") owner.options.push(toOption(key, settings));
}

function toOpenCommand([first, second]: readonly Literal[], root: OpenCommand): OpenCommand | undefined {
  // `.command({ command: "add <name>", describe: "…", builder: { … } })` says the same as `.command("add <name>", "…", …)`.
  const notation = first?.kind === "object" ? entryOf(first, "command") : first;
  const text = first?.kind === "object" ? (entryOf(first, "describe") ?? entryOf(first, "desc")) : second;
  const { name, arguments: places } = splitCommand(textOf(notation) ?? textsOf(notation)[0] ?? "");
  if (name === "") {
    root.isOpen = true;
    return undefined;
  }
  const isDefault = name === "$0" || name === "*";
  const builder = entryOf(first, "builder");
  return withoutUndefined<OpenCommand>({
    words: isDefault ? [] : [name],
    description: textOf(text),
    options: isDefault ? root.options : optionsIn(builder),
    arguments: places.map((place) => toArgument(place)).filter((parameter) => parameter !== undefined),
    isOpen: builder?.kind === "object" && !isWhole(builder),
  });
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
    open: command.isOpen || root.isOpen ? true : undefined,
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
