import type { HelpTexts } from "../arguments/help-texts.ts";
import { textsOf, toJson } from "../code/literals.ts";
import { findCalls, readRange, type Range, type Scanned } from "../code/scan.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { positional, switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import { toWord } from "../to-argv.ts";

/** Reads `make_option(c("-o", "--out"), type = "character", …)` of R's optparse, and `add_argument` of its argparse. */
export function fromOptparse(scanned: Scanned, help: HelpTexts): DerivedInterface | undefined {
  const calls = findCalls(scanned, /\b(?:make_option|add_argument|add_option)\(/gu);
  const made = calls.map(({ args }) => toParameter(scanned, args)).filter((parameter) => parameter !== undefined);
  if (made.length === 0) return undefined;
  const isPlace = ({ part }: Parameter): boolean => part.kind === "positional";
  const readsMore = scanned.code.includes("positional_arguments");
  const places = [...made.filter(isPlace), ...(readsMore ? help.positionals([]) : [])];
  return {
    commands: [{ parameters: [...made.filter((item) => !isPlace(item)), ...places], separator: "needed" }],
    confidence: "declared",
    source: "optparse",
  };
}

function toParameter(scanned: Scanned, args: readonly Range[]): Parameter | undefined {
  const keywords = new Map<string, JsonValue | undefined>();
  const names: string[] = [];
  for (const [from, to] of args) {
    const [whole, key] = /^([\w.]+)\s*=(?!=)/u.exec(scanned.code.slice(from, to)) ?? [];
    if (whole === undefined || key === undefined) names.push(...textsOf(readRange(scanned, [from, to])));
    else keywords.set(key, toJson(readRange(scanned, [from + whole.length, to])));
  }
  const flags = names.filter((name) => name.startsWith("-")).toSorted((left, right) => right.length - left.length);
  const keyword = (name: string): JsonValue | undefined => keywords.get(name);
  if (flags.includes("--help")) return undefined;
  const fallback = keyword("default") ?? undefined;
  const facts = { description: toHelp(keyword("help"), fallback), default: fallback };
  const type = typeOf(keyword("type"));
  if (flags.length === 0)
    return names[0] === undefined ? undefined : positional({ ...facts, type, name: names[0], required: true });
  const action = keyword("action");
  const property = keyword("dest");
  if (action === "store_false")
    return switchFlag({
      ...facts,
      flags: [],
      opposite: flags[0],
      property: typeof property === "string" ? property : flags[0],
    });
  if (action === "store_true" || type === "boolean") return switchFlag({ ...facts, flags });
  return valueFlag({ ...facts, flags, type, joint: "=" });
}

function toHelp(help: JsonValue | undefined, fallback: JsonValue | undefined): string | undefined {
  if (typeof help !== "string") return undefined;
  return help.replace("%default", fallback === undefined ? "" : toWord(fallback));
}

function typeOf(type: JsonValue | undefined): "integer" | "number" | "boolean" | undefined {
  if (type === "integer") return "integer";
  if (type === "double" || type === "numeric") return "number";
  return type === "logical" ? "boolean" : undefined;
}
