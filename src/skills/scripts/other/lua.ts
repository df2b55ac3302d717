import type { JsonValue } from "../../../core/json.ts";
import { argumentsOf, callAt, type Call } from "../code/calls.ts";
import type { Code } from "../code/code.ts";
import { textOf, toJson } from "../code/literals.ts";
import { isToken } from "../code/token.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { positional, switchFlag, valueFlag, type FlagDeclaration } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";

const methods = new Set(["argument", "option", "flag"]);

/** Reads `parser:option("-o --out", "…", default)` of Lua's argparse, and what is chained to it. */
export function fromLuaArgparse(code: Code): DerivedInterface | undefined {
  if (!code.tokens.some((token) => token.kind === "string" && token.text === "argparse")) return undefined;
  const parameters: Parameter[] = [];
  for (const [index, token] of code.tokens.entries()) {
    const call = isToken(code.tokens[index - 1], ":") && methods.has(token.text) ? callAt(code, index) : undefined;
    if (call !== undefined) parameters.push(toParameter(code, token.text, call));
  }
  if (parameters.length === 0) return undefined;
  const isPlace = ({ part }: Parameter): boolean => part.kind === "positional";
  return {
    commands: [
      {
        parameters: [...parameters.filter((item) => !isPlace(item)), ...parameters.filter(isPlace)],
        separator: "needed",
      },
    ],
    confidence: "declared",
    source: "argparse",
  };
}

function toParameter(code: Code, kind: string, call: Call): Parameter {
  const [names, text, fallback] = argumentsOf(code, call);
  const chained = readChain(code, call.close + 1);
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
function readChain(code: Code, from: number): ReadonlyMap<string, JsonValue> {
  const found = new Map<string, JsonValue>();
  for (let index = from; isToken(code.tokens[index], ":") && found.size < 10;) {
    const call = callAt(code, index + 1);
    if (call === undefined) break;
    const [value] = argumentsOf(code, call);
    const known = value?.kind === "name" ? value.name : listIn(code, call);
    found.set(code.tokens[index + 1]?.text ?? "", known ?? toJson(value) ?? null);
    index = call.close + 1;
  }
  return found;
}

/** Lua writes lists in braces. */
function listIn({ tokens }: Code, { open, close }: Call): JsonValue | undefined {
  if (!isToken(tokens[open + 1], "{")) return undefined;
  return tokens.slice(open + 2, close - 1).flatMap((token) => (token.kind === "string" ? [token.text] : []));
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
