import type { DerivedCommand, DerivedInterface } from "../derived-interface.ts";
import { positional, switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { toDescription } from "../describe.ts";
import { longFirst, mergeConstants } from "./merge-constants.ts";
import type { ClickCommand, PythonArgument, PythonValue } from "./python-facts.ts";
import { fromChoices, fromType, known, text, type TypeFacts } from "./python-types.ts";

type Option = ClickCommand["options"][number];
type Keywords = Readonly<Record<string, PythonValue>>;

/** Makes the interface of a script from its click commands. */
export function fromClick(commands: readonly ClickCommand[]): DerivedInterface | undefined {
  const byFunction = new Map(commands.map((command) => [command.function, command]));
  const leaves = commands.filter((command) => command.kind === "command");
  if (leaves.length === 0) return undefined;
  const roots = commands.filter((command) => command.parent === null || !byFunction.has(command.parent));
  // Without a group only one command can be the program: the last, which is the one that is called.
  const isFlat = roots.every((command) => command.kind === "command");
  const chosen = isFlat ? leaves.slice(-1) : leaves;
  const group = roots.find((command) => command.kind === "group");
  return withoutUndefined<DerivedInterface>({
    commands: chosen.slice(0, 150).map((command) => toCommand(command, byFunction, group)),
    confidence: "declared",
    source: "click",
    description: helpOf(isFlat ? chosen[0] : group),
  });
}

function helpOf(command: ClickCommand | undefined): string | undefined {
  const help = toDescription(command?.help ?? "");
  return help === "" ? undefined : help;
}

function toCommand(
  command: ClickCommand,
  byFunction: ReadonlyMap<string, ClickCommand>,
  group: ClickCommand | undefined,
): DerivedCommand {
  const chain = ancestorsOf(command, byFunction, group);
  const words = [...chain.slice(1), ...(chain.length > 0 ? [command] : [])].map(nameOf);
  const above = chain.flatMap((ancestor, depth) =>
    toParameters(ancestor).map((parameter) => ({ ...parameter, after: depth })),
  );
  return withoutUndefined<DerivedCommand>({
    parameters: [...above, ...toParameters(command)],
    words: words.length === 0 ? undefined : words,
    separator: "needed",
    description: words.length === 0 ? undefined : helpOf(command),
    open: [...chain, command].some(({ options }) => options.some(({ names }) => names === null)) ? true : undefined,
  });
}

/** The groups above a command, the program first. A command that is added by a call belongs to the program. */
function ancestorsOf(
  command: ClickCommand,
  byFunction: ReadonlyMap<string, ClickCommand>,
  group: ClickCommand | undefined,
): readonly ClickCommand[] {
  const chain: ClickCommand[] = [];
  for (let name = command.parent; name !== null && chain.length < 8;) {
    const parent = byFunction.get(name);
    if (parent === undefined) break;
    chain.unshift(parent);
    name = parent.parent;
  }
  return chain.length === 0 && group !== undefined ? [group] : chain;
}

/** click makes `list-items` of `list_items`, and takes the endings off that mark a function as a command. */
function nameOf({ name, function: own }: ClickCommand): string {
  return (
    name ??
    own
      .toLowerCase()
      .replaceAll("_", "-")
      .replace(/-(?:command|cmd|group|grp)$/u, "")
  );
}

function toParameters({ options }: ClickCommand): readonly Parameter[] {
  const known = options.filter((option) => option.names !== null && option.keywords["hidden"]?.value !== true);
  const merged = mergeConstants(known.filter(({ kind }) => kind === "option").map(toConstant));
  const flags = merged.map((item) => ("parameter" in item ? item.parameter : toOption(item)));
  const places = known.filter(({ kind }) => kind === "argument").map(toArgument);
  return [...flags, ...places];
}

/** `--upper` and `--lower` that set one name are what argparse calls constants. */
function toConstant({ names, keywords }: Option): Option & PythonArgument {
  const dest = names?.find((name) => !name.startsWith("-"));
  const flags = (names ?? []).filter((name) => name.startsWith("-"));
  const value = keywords["flag_value"];
  const constant = value === undefined ? {} : { action: { value: "store_const" }, const: value };
  const named = dest === undefined ? {} : { dest: { value: dest } };
  // click marks the one that is on by default; argparse names its value.
  const isOn = keywords["default"]?.value === true && value !== undefined;
  const fallback = isOn ? { default: value } : {};
  return {
    kind: "option",
    names,
    flags,
    exclusive: null,
    keywords: { ...keywords, ...constant, ...named, ...fallback },
  };
}

const plainTypes: Readonly<Record<string, TypeFacts>> = {
  INT: { type: "integer" },
  FLOAT: { type: "number" },
  BOOL: { type: "boolean" },
};

function toTypeFacts({ type }: Keywords): TypeFacts {
  const name = type?.name?.split(".").at(-1);
  if (type === undefined || name === undefined) return {};
  if (name === "Choice") return fromChoices(type.values?.[0] ?? type.keywords?.["choices"], undefined);
  if (name === "IntRange") return { type: "integer", ...rangeOf(type) };
  if (name === "FloatRange") return { type: "number", ...rangeOf(type) };
  return (Object.hasOwn(plainTypes, name) ? plainTypes[name] : undefined) ?? fromType(type);
}

function rangeOf({ values, keywords }: PythonValue): TypeFacts {
  const minimum = known(keywords?.["min"] ?? values?.[0]);
  const maximum = known(keywords?.["max"] ?? values?.[1]);
  return {
    ...(typeof minimum === "number" && { minimum }),
    ...(typeof maximum === "number" && { maximum }),
  };
}

/** A default gives its type away where none is said, as in click itself. */
function withDefaultType(facts: TypeFacts, keywords: Keywords): TypeFacts {
  const value = known(keywords["default"]);
  if (facts.type !== undefined || facts.choices !== undefined || typeof value !== "number") return facts;
  return { ...facts, type: Number.isInteger(value) ? "integer" : "number" };
}

function toOption({ names, keywords }: Pick<Option, "names" | "keywords">): Parameter {
  const spellings = (names ?? []).filter((name) => name.startsWith("-"));
  const property = (names ?? []).find((name) => !name.startsWith("-"));
  const base = { property, description: text(keywords["help"]), required: known(keywords["required"]) === true };
  const fallback = known(keywords["default"]);
  const pair = spellings.find((name) => name.includes("/"));
  if (pair !== undefined) return toPair(pair, spellings, { ...base, fallback });
  const flags = longFirst(spellings);
  if (known(keywords["count"]) === true) return toCounter(flags, base);
  const isSwitch =
    known(keywords["is_flag"]) === true ||
    keywords["flag_value"] !== undefined ||
    (typeof fallback === "boolean" && keywords["type"] === undefined);
  if (isSwitch) return switchFlag({ ...base, flags, default: fallback, required: false });
  const span = toSpan(keywords);
  return valueFlag({
    ...base,
    ...withDefaultType(toTypeFacts(keywords), keywords),
    flags,
    many: known(keywords["multiple"]) === true ? "repeat" : span.many ? "list" : undefined,
    minItems: span.minItems,
    maxItems: span.maxItems,
    default: fallback ?? undefined,
    joint: flags.some((flag) => flag.startsWith("--")) ? "=" : "",
  });
}

/** How many words `nargs` says; -1 is any number. */
function toSpan(keywords: Keywords): { many: boolean; minItems: number | undefined; maxItems: number | undefined } {
  const nargs = known(keywords["nargs"]);
  if (typeof nargs !== "number" || nargs === 1) return { many: false, minItems: undefined, maxItems: undefined };
  const minItems = nargs > 1 ? nargs : known(keywords["required"]) === true ? 1 : undefined;
  return { many: true, minItems, maxItems: nargs > 1 ? nargs : undefined };
}

/** `--shout/--no-shout` */
function toPair(
  pair: string,
  spellings: readonly string[],
  {
    fallback,
    ...base
  }: { property: string | undefined; description: string | undefined; fallback: PythonValue["value"] },
): Parameter {
  const [on = "", off = ""] = pair.split(/\s*\/\s*/u);
  const flags = [on, ...spellings.filter((name) => name !== pair)];
  return switchFlag({ ...base, flags, opposite: off, default: fallback });
}

function toCounter(
  flags: readonly string[],
  { property, description }: { property: string | undefined; description: string | undefined },
): Parameter {
  const made = switchFlag({ flags, property, description });
  const [flag = "", ...aliases] = flags;
  return {
    part: { kind: "count", property: made.part.property, flag, ...(aliases.length > 0 && { aliases }) },
    schema: withoutUndefined({ type: "integer", minimum: 0, description }),
    required: false,
  };
}

function toArgument({ names, keywords }: Option): Parameter {
  const span = toSpan(keywords);
  const fallback = known(keywords["default"]) ?? undefined;
  // A list of any length may be empty unless it is said to be needed.
  const isNeeded = fallback === undefined && known(keywords["nargs"]) !== -1;
  const required = known(keywords["required"]);
  return positional({
    ...withDefaultType(toTypeFacts(keywords), keywords),
    ...span,
    name: names?.[0] ?? "",
    description: text(keywords["help"]),
    default: span.many ? undefined : fallback,
    required: typeof required === "boolean" ? required : isNeeded,
  });
}
