import type { ArgvFacts } from "../arguments/argv-facts.ts";
import type { JsonValue } from "../../../core/json.ts";
import { textOf, toJson } from "../code/literals.ts";
import { findCalls, findClosing, readRange, splitRange, type Range, type Scanned } from "../code/scan.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { positional, switchFlag, valueFlag, type FlagDeclaration } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";

/** Reads `parser:option("-o --output", "…", default)` of Lua's argparse, and what is chained to it. */
export function fromLuaArgparse(scanned: Scanned): DerivedInterface | undefined {
  if (!scanned.pieces.some(({ kind, text }) => kind === "string" && text === "argparse")) return undefined;
  const parameters = ["argument", "option", "flag"].flatMap((kind) =>
    findCalls(scanned, new RegExp(`:${kind}\\(`, "gu")).map((call) => ({
      start: call.start,
      parameter: toParameter(scanned, kind, call),
    })),
  );
  if (parameters.length === 0) return undefined;
  const ordered = parameters.toSorted((left, right) => left.start - right.start).map(({ parameter }) => parameter);
  const isPlace = ({ part }: Parameter): boolean => part.kind === "positional";
  return {
    commands: [
      { parameters: [...ordered.filter((item) => !isPlace(item)), ...ordered.filter(isPlace)], separator: "needed" },
    ],
    confidence: "declared",
    source: "argparse",
  };
}

function toParameter(
  scanned: Scanned,
  kind: string,
  { end, args }: { readonly end: number; readonly args: readonly Range[] },
): Parameter {
  const [names, text, fallback] = args.map((range) => readRange(scanned, range));
  const chained = readChain(scanned, end + 1);
  const words = (textOf(names) ?? "").split(/\s+/u).filter((word) => word !== "");
  const flags = words.toSorted((left, right) => right.length - left.length);
  const choices = chained.get("choices");
  const facts = {
    description: textOf(text) ?? textIn(chained.get("description")),
    default: toJson(fallback) ?? chained.get("default"),
    choices: Array.isArray(choices) ? (choices as readonly JsonValue[]) : undefined,
    type: chained.get("convert") === "tonumber" ? ("number" as const) : undefined,
  };
  if (kind === "flag") return switchFlag({ ...facts, flags });
  const { isMany, isOptional, minItems, maxItems } = toCount(chained.get("args"));
  if (kind === "argument") {
    const required = !isOptional && facts.default === undefined;
    return positional({ ...facts, name: words[0] ?? "", many: isMany, minItems, maxItems, required });
  }
  const isRepeated = chained.has("count") && chained.get("count") !== "?";
  const many: FlagDeclaration["many"] = isMany ? "list" : isRepeated ? "repeat" : undefined;
  return valueFlag({ ...facts, flags, joint: "=", many, minItems, maxItems });
}

function textIn(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The calls that follow one another: `:args("*"):choices({"a", "b"})`. The name of a function stands for itself. */
function readChain(scanned: Scanned, from: number): ReadonlyMap<string, JsonValue> {
  const found = new Map<string, JsonValue>();
  for (let at = from; found.size < 10;) {
    const [whole, name] = /^\s*:(\w+)\(/u.exec(scanned.code.slice(at, at + 80)) ?? [];
    if (whole === undefined || name === undefined) break;
    const open = at + whole.length - 1;
    const end = findClosing(scanned, open);
    const [range] = splitRange(scanned, [open + 1, end]);
    const value = range === undefined ? undefined : readRange(scanned, range);
    found.set(name, (value?.kind === "name" ? value.name : toJson(value)) ?? null);
    at = end + 1;
  }
  return found;
}

interface Count {
  readonly isMany: boolean;
  readonly isOptional: boolean;
  readonly minItems?: number;
  readonly maxItems?: number;
}

function toCount(args: JsonValue | undefined): Count {
  if (args === "?") return { isMany: false, isOptional: true };
  if (args === "*") return { isMany: true, isOptional: true };
  if (args === "+") return { isMany: true, isOptional: false, minItems: 1 };
  const isNumber = typeof args === "number" && args > 1;
  return isNumber
    ? { isMany: true, isOptional: false, minItems: args, maxItems: args }
    : { isMany: false, isOptional: false };
}

/** `local name, count = ...` reads the arguments of the script; `{...}` is all of them. */
export function withVarargs(facts: ArgvFacts, { code }: Scanned): ArgvFacts {
  const positions = new Map(facts.positions);
  const [, names] = /^local\s+([\w\s,]{1,200}?)\s*=\s*\.\.\.\s*$/mu.exec(code) ?? [];
  for (const [place, name] of names?.split(/\s*,\s*/u).entries() ?? [])
    if (!positions.has(place)) positions.set(place, { name: name.trim() });
  const [, list] = /^local\s+(\w+)\s*=\s*\{\s*\.\.\.\s*\}/mu.exec(code) ?? [];
  const read = list === undefined ? [] : code.matchAll(new RegExp(`(?:(\\w+)\\s*=\\s*)?\\b${list}\\[(\\d)\\]`, "gu"));
  for (const [, name, number] of read) {
    const place = Number(number) - 1;
    if (!positions.has(place)) positions.set(place, name === undefined ? {} : { name });
  }
  return { ...facts, positions, readsArgv: facts.readsArgv || names !== undefined || list !== undefined };
}
