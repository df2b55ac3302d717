import type { JsonValue } from "../../core/json.ts";
import type { Reference } from "./parse-reference.ts";
import type { Template } from "./parse-template.ts";

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
