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

/** Looks for the next dollar sign that means something: `$$`, `${` or the beginning of a reference. */
const dollar = /\$(?=[$\w{])/g;

function parseText(text: string, path: readonly (string | number)[], problems: Problem[]): Template {
  const parts: (string | Reference)[] = [];
  let literal = "";
  let position = 0;
  const add = (reference: Reference): void => {
    if (literal !== "") parts.push(literal);
    literal = "";
    parts.push(reference);
  };
  for (;;) {
    dollar.lastIndex = position;
    const at = dollar.exec(text)?.index ?? text.length;
    literal += text.slice(position, at);
    if (at === text.length) break;
    const isBraced = text[at + 1] === "{";
    const found = parseReference(text, isBraced ? at + 2 : at + 1);
    position = at + 2;
    if (text[at + 1] === "$") literal += "$";
    else if (found === undefined && !isBraced) literal += text.slice(at, position);
    else if (found === undefined || (isBraced && text[found.end] !== "}")) {
      problems.push({
        path: toPath(path),
        expected: "a reference such as ${input.name}, or $$ for a dollar sign",
        found: quote(text.slice(at)),
      });
    } else {
      add(found.reference);
      position = isBraced ? found.end + 1 : found.end;
    }
  }
  return toText(literal === "" ? parts : [...parts, literal]);
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
