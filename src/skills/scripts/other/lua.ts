import { argumentsOf, callAt } from "../code/calls.ts";
import type { Code } from "../code/code.ts";
import { textOf, toJson } from "../code/literals.ts";
import { isToken } from "../code/token.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { positional, switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";

const methods = new Set(["argument", "option", "flag"]);

/** Reads `parser:option("-o --out", "…", default)` of Lua's argparse. */
export function fromLuaArgparse(code: Code): DerivedInterface | undefined {
  if (!code.tokens.some((token) => token.kind === "string" && token.text === "argparse")) return undefined;
  const parameters: Parameter[] = [];
  for (const [index, token] of code.tokens.entries()) {
    const call = isToken(code.tokens[index - 1], ":") && methods.has(token.text) ? callAt(code, index) : undefined;
    if (call === undefined) continue;
    const [names, text, fallback] = argumentsOf(code, call);
    const words = (textOf(names) ?? "").split(/\s+/u).filter((word) => word !== "");
    const flags = words.toSorted((left, right) => right.length - left.length);
    const facts = { description: textOf(text), default: toJson(fallback) };
    if (token.text === "argument") parameters.push(positional({ ...facts, name: words[0] ?? "", required: true }));
    else if (token.text === "flag") parameters.push(switchFlag({ ...facts, flags }));
    else parameters.push(valueFlag({ ...facts, flags, joint: "=" }));
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
