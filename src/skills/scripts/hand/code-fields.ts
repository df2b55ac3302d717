import type { Code } from "../code/code.ts";
import { findClosing, isAnyToken, isToken, splitArguments, type Token } from "../code/token.ts";
import { readLiteral, toJson } from "../code/literals.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { StdinFact } from "./argv-facts.ts";

type Field = StdinFact["fields"][number];

const parsers = new Set(["load", "loads", "parse", "json", "decode", "json_decode", "decode_json", "fromJSON"]);
const dots = new Set([".", "?."]);

/** The keys that code reads from the JSON object it got: `data["file"]`, `data.get("limit", 10)`, `const { file } = data`. */
export function findFields(code: Code): readonly Field[] {
  const names = new Set(parsedNames(code.tokens));
  const fields = new Map<string, Field>();
  for (const [index, token] of code.tokens.entries()) {
    if (token.kind !== "word" || !names.has(token.text) || isAnyToken(code.tokens[index - 1], dots)) continue;
    for (const field of [...fieldAt(code, index), ...patternAt(code, index)]) {
      const before = fields.get(field.name);
      const required = (before?.required ?? true) && field.required;
      fields.set(field.name, withoutUndefined<Field>({ ...before, ...field, required }));
    }
  }
  return [...fields.values()].filter(({ name }) => /^[A-Za-z][\w-]{0,60}$/u.test(name)).slice(0, 60);
}

/** The variables that hold parsed JSON. */
function* parsedNames(tokens: readonly Token[]): Generator<string> {
  for (const [index, token] of tokens.entries()) {
    if (!isAnyToken(token, parsers) || !isToken(tokens[index + 1], "(")) continue;
    // `data = json.load(…)`, `const data = await JSON.parse(…)`
    for (let at = index - 1; at > index - 6; at--) {
      const name = tokens[at - 1];
      if (isToken(tokens[at], "=") && name?.kind === "word") yield name.text;
    }
  }
}

function* fieldAt(code: Code, index: number): Generator<Field> {
  const { tokens } = code;
  const key = tokens[index + 2];
  if (isToken(tokens[index + 1], "[") && key?.kind === "string" && isToken(tokens[index + 3], "]")) {
    yield { name: key.text, required: !isAnyToken(tokens[index + 4], optionalMarks) };
  } else if (isAnyToken(tokens[index + 1], dots) && key?.kind === "word") {
    if (!isToken(tokens[index + 3], "(")) yield { name: key.text, required: false };
    else if (key.text === "get") yield* gotAt(code, index + 3);
  }
}

/** `.get("limit", 10)` */
function* gotAt({ tokens, constants }: Code, open: number): Generator<Field> {
  const name = tokens[open + 1];
  const [, second] = splitArguments(tokens, open, findClosing(tokens, open));
  const value = second === undefined ? undefined : toJson(readLiteral(tokens, second, constants));
  if (name?.kind === "string")
    yield withoutUndefined<Field>({ name: name.text, required: false, default: value ?? undefined });
}

const optionalMarks = new Set(["||", "??", "or", "?"]);

/** `const { file, limit = 10 } = data` */
function* patternAt({ tokens, constants }: Code, index: number): Generator<Field> {
  if (!isToken(tokens[index - 1], "=") || !isToken(tokens[index - 2], "}")) return;
  let open = index - 2;
  while (open > Math.max(0, index - 100) && !isToken(tokens[open], "{")) open -= 1;
  for (const [from, to] of splitArguments(tokens, open, index - 2)) {
    const name = tokens[from];
    if (name?.kind !== "word") continue;
    const value = isToken(tokens[from + 1], "=") ? toJson(readLiteral(tokens, [from + 2, to], constants)) : undefined;
    yield withoutUndefined<Field>({ name: name.text, required: false, default: value ?? undefined });
  }
}
