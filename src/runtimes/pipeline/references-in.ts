import type { Condition } from "./parse-condition.ts";
import type { Reference } from "./parse-reference.ts";
import type { Template } from "./parse-template.ts";

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

/** Every reference in a condition. */
export function* conditionReferences(condition: Condition): Generator<Reference> {
  switch (condition.kind) {
    case "literal":
      return;
    case "reference":
      yield condition.reference;
      return;
    case "not":
      yield* conditionReferences(condition.condition);
      return;
    case "and":
    case "or":
    case "compare":
      yield* conditionReferences(condition.left);
      yield* conditionReferences(condition.right);
  }
}
