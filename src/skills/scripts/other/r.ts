import { findCalls, type Call } from "../code/calls.ts";
import type { Code } from "../code/code.ts";
import { readLiteral, toJson } from "../code/literals.ts";
import { isToken } from "../code/token.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { positional, switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import { toWord } from "../to-argv.ts";
import type { HelpTexts } from "../hand/help-texts.ts";

/** Reads `make_option(c("-o", "--out"), type = "character", …)` of R's optparse, and `add_argument` of its argparse. */
export function fromOptparse(code: Code, help: HelpTexts): DerivedInterface | undefined {
  const calls = [
    ...findCalls(code, "make_option"),
    ...findCalls(code, "add_argument"),
    ...findCalls(code, "add_option"),
  ];
  const made = calls.map((call) => toParameter(code, call)).filter((parameter) => parameter !== undefined);
  if (made.length === 0) return undefined;
  const isPlace = ({ part }: Parameter): boolean => part.kind === "positional";
  const readsMore = code.tokens.some((token) => token.text === "positional_arguments");
  const places = [...made.filter(isPlace), ...(readsMore ? help.positionals([]) : [])];
  return {
    commands: [{ parameters: [...made.filter((item) => !isPlace(item)), ...places], separator: "needed" }],
    confidence: "declared",
    source: "optparse",
  };
}

function toParameter(code: Code, call: Call): Parameter | undefined {
  const names = call.ranges.flatMap(([from, to]) =>
    isToken(code.tokens[from + 1], "=")
      ? []
      : code.tokens.slice(from, to).flatMap((token) => (token.kind === "string" ? [token.text] : [])),
  );
  const flags = names.filter((name) => name.startsWith("-")).toSorted((left, right) => right.length - left.length);
  const keyword = (name: string): JsonValue | undefined => {
    const range = call.ranges.find(([from]) => isToken(code.tokens[from], name) && isToken(code.tokens[from + 1], "="));
    return range === undefined ? undefined : toJson(readLiteral(code.tokens, [range[0] + 2, range[1]], code.constants));
  };
  if (flags.includes("--help")) return undefined;
  const help = keyword("help");
  const fallback = keyword("default") ?? undefined;
  const facts = {
    description:
      typeof help === "string" ? help.replace("%default", fallback === undefined ? "" : toWord(fallback)) : undefined,
    default: fallback,
  };
  const type = typeOf(keyword("type"));
  if (flags.length === 0)
    return names[0] === undefined ? undefined : positional({ ...facts, type, name: names[0], required: true });
  const action = keyword("action");
  if (action === "store_false") {
    const property = keyword("dest");
    const own = typeof property === "string" ? property : undefined;
    return switchFlag({ ...facts, flags: [], opposite: flags[0], property: own ?? flags[0] });
  }
  if (action === "store_true" || type === "boolean") return switchFlag({ ...facts, flags });
  return valueFlag({ ...facts, flags, type, joint: "=" });
}

function typeOf(type: JsonValue | undefined): "integer" | "number" | "boolean" | undefined {
  if (type === "integer") return "integer";
  if (type === "double" || type === "numeric") return "number";
  return type === "logical" ? "boolean" : undefined;
}
