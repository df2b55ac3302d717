import { KitbagError, quote, type Problem } from "../../core/errors.ts";
import { toPath, type JsonObject, type JsonValue } from "../../core/json.ts";
import { parseReference, type Reference } from "./parse-reference.ts";

/** A JSON value with references in it, taken apart. */
export type Template =
  | { readonly kind: "literal"; readonly value: JsonValue }
  | { readonly kind: "reference"; readonly reference: Reference }
  | { readonly kind: "text"; readonly parts: readonly (string | Reference)[] }
  | { readonly kind: "list"; readonly items: readonly Template[] }
  | { readonly kind: "object"; readonly entries: readonly (readonly [string, Template])[] };

/**
 * Takes a JSON value apart into what is fixed and what is looked up. A text that is one reference and nothing else stands for
 * the value itself; in any other text references are replaced. `$$` is a dollar sign.
 *
 * @throws {KitbagError} `pipeline-invalid` with every text that cannot be read; the paths begin at `value`.
 */
export function parseTemplate(value: JsonValue): Template {
  const problems: Problem[] = [];
  const template = parseValue(value, [], problems);
  if (problems.length > 0) throw new KitbagError("pipeline-invalid", { pipeline: "template", problems });
  return template;
}

function parseValue(value: JsonValue, path: readonly (string | number)[], problems: Problem[]): Template {
  if (typeof value === "string") return parseText(value, path, problems);
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[]).map((item, index) => parseValue(item, [...path, index], problems));
    return items.every(isLiteral) ? { kind: "literal", value: items.map(valueOf) } : { kind: "list", items };
  }
  if (typeof value !== "object" || value === null) return { kind: "literal", value };
  const entries = Object.entries(value as JsonObject).map(([key, inner]) => {
    return [key, parseValue(inner, [...path, key], problems)] as const;
  });
  if (!entries.every(([, inner]) => isLiteral(inner))) return { kind: "object", entries };
  return { kind: "literal", value: Object.fromEntries(entries.map(([key, inner]) => [key, valueOf(inner)])) };
}

/** A text can be wrong at every character. */
const mostProblems = 50;

function parseText(text: string, path: readonly (string | number)[], problems: Problem[]): Template {
  const parts: (string | Reference)[] = [];
  let literal = "";
  for (const [piece, at] of splitText(text)) {
    if (typeof piece === "string") literal += piece;
    else if (piece === undefined) {
      const expected = "a reference such as ${input.name}, or $$ for a dollar sign";
      problems.push({ path: toPath(path), expected, found: quote(text.slice(at)) });
      if (problems.length >= mostProblems) break;
    } else {
      if (literal !== "") parts.push(literal);
      literal = "";
      parts.push(piece);
    }
  }
  return toText(literal === "" ? parts : [...parts, literal]);
}

/** A piece of a text, `undefined` if it cannot be read, and where it begins. */
type Piece = readonly [piece: string | Reference | undefined, at: number];

/** Looks for the next dollar sign that means something: `$$`, `${` or the beginning of a reference. */
const dollar = /\$(?=[$A-Za-z_{])/g;

function* splitText(text: string): Generator<Piece> {
  let position = 0;
  while (position < text.length) {
    dollar.lastIndex = position;
    const at = dollar.exec(text)?.index ?? text.length;
    if (at > position) yield [text.slice(position, at), position];
    if (at === text.length) return;
    const [piece, end] = readDollar(text, at);
    yield [piece, at];
    position = end;
  }
}

function readDollar(text: string, at: number): [piece: string | Reference | undefined, end: number] {
  if (text[at + 1] === "$") return ["$", at + 2];
  const isBraced = text[at + 1] === "{";
  const found = parseReference(text, isBraced ? at + 2 : at + 1);
  if (found === undefined || (isBraced && text[found.end] !== "}")) return [undefined, at + 2];
  return [found.reference, isBraced ? found.end + 1 : found.end];
}

function toText(parts: readonly (string | Reference)[]): Template {
  const [first = "", ...others] = parts;
  if (others.length > 0) return { kind: "text", parts };
  return typeof first === "string" ? { kind: "literal", value: first } : { kind: "reference", reference: first };
}

function isLiteral(template: Template): template is Template & { kind: "literal" } {
  return template.kind === "literal";
}

function valueOf(template: Template): JsonValue {
  return template.kind === "literal" ? template.value : null;
}
