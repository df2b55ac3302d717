import { pathByLabel } from "../facts/file-parameters.ts";
import { positional, switchFlag, valueFlag, type FlagDeclaration } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import type { ValueFacts } from "../value-schema.ts";

/** Reads `-p, --port <number>` as commander and cac write it, and makes a parameter of it. */
export function toOption(notation: string, facts: Omit<FlagDeclaration, "flags">): Parameter | undefined {
  const flags =
    notation.match(/--?[A-Za-z][\w.-]*/gu)?.filter((flag) => !/^(?:-h|--help|-V|--version)$/u.test(flag)) ?? [];
  const long = flags.filter((flag) => flag.startsWith("--"));
  const spellings = [...long, ...flags.filter((flag) => !flag.startsWith("--"))];
  if (spellings.length === 0) return undefined;
  const value = /[<[](?:\.{3})?([\w.| -]+?)(\.{3})?[>\]]/u.exec(notation.replaceAll(/--?[A-Za-z][\w.-]*/gu, ""));
  if (value === null) return toSwitch(spellings, facts);
  const isMany = value[2] !== undefined || value[0].includes("...");
  const isOptional = value[0].startsWith("[");
  return valueFlag({
    ...facts,
    flags: spellings,
    many: isMany ? "list" : facts.many,
    joint: "=",
    alone: isOptional ? true : undefined,
    file: facts.file ?? pathByLabel(value[1]),
  });
}

function toSwitch(flags: readonly string[], facts: Omit<FlagDeclaration, "flags">): Parameter {
  const negative = flags.find((flag) => flag.startsWith("--no-"));
  if (negative === undefined)
    return switchFlag({ ...facts, flags, default: typeof facts.default === "boolean" ? facts.default : undefined });
  // `--no-color` alone means that the colour is on unless it is given.
  return switchFlag({
    ...facts,
    flags: [],
    opposite: negative,
    property: negative.replace("--no-", ""),
    default: true,
  });
}

/** Reads `<file>`, `[out]`, `<files...>`, `[...files]`, and `<files..>` as yargs writes it. */
export function toArgument(notation: string, facts: ValueFacts = {}): Parameter | undefined {
  const [, open, before, name, after] = /([<[])(\.{3})?([\w.-]+?)(\.{2,3})?[>\]]/u.exec(notation) ?? [];
  if (name === undefined) return undefined;
  return positional({
    ...facts,
    name,
    required: open === "<",
    many: before !== undefined || after !== undefined || facts.many,
  });
}

/** Takes `add <name> [path]` apart into the command's name and its arguments. */
export function splitCommand(notation: string): { name: string; arguments: readonly string[] } {
  const [name = "", ...rest] = notation.trim().split(/\s+/u);
  return { name, arguments: rest.filter((word) => /^[<[]/u.test(word)) };
}
