import { KitbagError, quote, type Problem } from "../../core/errors.ts";
import { toPath, type JsonObject, type JsonValue } from "../../core/json.ts";

/** A place that a template or a condition looks at: `$input.list[0].name`. */
export interface Reference {
  /** `input`, `prev`, `item`, `index`, `errors`, or the id of a step. */
  readonly root: string;
  readonly path: readonly (string | number)[];
  /** As it was written, without braces. */
  readonly text: string;
}

/** What {@link parseReference} found, and where it ends. */
export interface FoundReference {
  readonly reference: Reference;
  readonly end: number;
}

/** Plain letters only, so that text in any script may follow at once; other fields are written `["…"]`. */
const rootName = /[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*/y;
const pathStep = /\.([A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*)|\[(\d{1,9})\]|\[("(?:[^"\\\u0000-\u001F]|\\.)*")\]/y;

/** Reads the reference whose name begins at `start`, behind the dollar sign; `undefined` if there is no reference. */
export function parseReference(text: string, start: number): FoundReference | undefined {
  rootName.lastIndex = start;
  const root = rootName.exec(text)?.[0];
  if (root === undefined) return undefined;
  const path: (string | number)[] = [];
  let end = start + root.length;
  for (;;) {
    pathStep.lastIndex = end;
    const [whole, field, index, quoted] = pathStep.exec(text) ?? [];
    const key = field ?? (index === undefined ? unquote(quoted) : Number(index));
    if (whole === undefined || key === undefined) break;
    path.push(key);
    end += whole.length;
  }
  return { reference: { root, path, text: `$${text.slice(start, end)}` }, end };
}

function unquote(quoted: string | undefined): string | undefined {
  if (quoted === undefined) return undefined;
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}

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
  return toTextTemplate(literal === "" ? parts : [...parts, literal]);
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

function toTextTemplate(parts: readonly (string | Reference)[]): Template {
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

/** A reference, and the path inside the template that leads to it. */
export type FoundAt = readonly [reference: Reference, path: readonly (string | number)[]];

/** Every reference in a template. */
export function* referencesIn(template: Template, path: readonly (string | number)[] = []): Generator<FoundAt> {
  switch (template.kind) {
    case "literal":
      return;
    case "reference":
      yield [template.reference, path];
      return;
    case "text":
      for (const part of template.parts) if (typeof part !== "string") yield [part, path];
      return;
    case "list":
      for (const [index, item] of template.items.entries()) yield* referencesIn(item, [...path, index]);
      return;
    case "object":
      for (const [key, inner] of template.entries) yield* referencesIn(inner, [...path, key]);
  }
}

/** What references lead to: the value of a root, or `undefined` if it has none. */
export type Scope = (root: string) => JsonValue | undefined;

/** How long all the text together may be that one template makes, in characters. */
export const longestText = 16 * 1024 * 1024;

/**
 * Puts values in the place of references. What leads nowhere is left out of an object, `null` in a list, and nothing in a text;
 * so is `null` in a text. Lists and objects in a text become JSON.
 *
 * @throws {RangeError} if the text grows beyond {@link longestText}: a few references can make a text of any size.
 */
export function renderTemplate(template: Template, scope: Scope): JsonValue | undefined {
  return render(template, scope, { left: longestText });
}

interface TextBudget {
  left: number;
}

function render(template: Template, scope: Scope, budget: TextBudget): JsonValue | undefined {
  switch (template.kind) {
    case "literal":
      return template.value;
    case "reference":
      return followReference(template.reference, scope);
    case "text":
      return template.parts.map((part) => renderPart(part, scope, budget)).join("");
    case "list":
      return template.items.map((item) => render(item, scope, budget) ?? null);
    case "object":
      return renderObject(template.entries, scope, budget);
  }
}

function renderObject(
  entries: readonly (readonly [string, Template])[],
  scope: Scope,
  budget: TextBudget,
): Readonly<Record<string, JsonValue>> {
  const rendered: Record<string, JsonValue> = {};
  for (const [key, template] of entries) {
    const value = render(template, scope, budget);
    if (value !== undefined) rendered[key] = value;
  }
  return rendered;
}

function renderPart(part: string | Reference, scope: Scope, budget: TextBudget): string {
  const text = typeof part === "string" ? part : toText(followReference(part, scope));
  budget.left -= text.length;
  if (budget.left < 0) throw new RangeError(`its text would be longer than ${longestText} characters`);
  return text;
}

function toText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Follows a reference; `undefined` if it leads nowhere. Only what is in the data is found, and the `length` of a list. */
export function followReference({ root, path }: Reference, scope: Scope): JsonValue | undefined {
  let value = scope(root);
  for (const step of path) value = getInside(value, step);
  return value;
}

function getInside(value: JsonValue | undefined, step: string | number): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  // The own properties of a list are its items and its length.
  const isFitting = Array.isArray(value) ? typeof step === "number" || step === "length" : typeof step === "string";
  return isFitting && Object.hasOwn(value, step) ? (value as Record<string | number, JsonValue>)[step] : undefined;
}
