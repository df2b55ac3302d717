import { isOfType, wantedTypes, followReferences, isSchemaObject, type JsonSchema } from "./json-schema.ts";

/**
 * The branches of an `anyOf` or `oneOf` that `value` may be meant for, the likeliest first: those of its type, with the
 * properties it has. Only looks at the value itself, not inside its parts, so that it takes no longer for a deep one.
 */
export function rankBranches(root: JsonSchema, branches: readonly unknown[], value: unknown): RankedBranch[] {
  return findBranches(root, branches)
    .filter((branch) => takesType(branch, value))
    .map((branch) => ({ branch, score: isSchemaObject(value) ? likeness(root, branch, value) : 0 }))
    .toSorted((left, right) => right.score - left.score);
}

/** A branch and how much the value looks like it; only to compare branches of one value. */
export interface RankedBranch {
  readonly branch: JsonSchema;
  readonly score: number;
}

/** The schemas behind branches, through references and branches inside branches. */
export function findBranches(root: JsonSchema, branches: readonly unknown[]): JsonSchema[] {
  return branches.flatMap((branch) => {
    const schema = followReferences(root, branch);
    if (!isSchemaObject(schema)) return [];
    const inner = branchesOf(schema);
    return inner !== undefined && wantedTypes(schema).length === 0 ? findBranches(root, inner) : [schema];
  });
}

/** What stands under `anyOf` or `oneOf`; `undefined` if there is neither. */
export function branchesOf(schema: JsonSchema): readonly unknown[] | undefined {
  const branches = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(branches) ? branches : undefined;
}

/** The values that a schema lists: its `enum` or its `const`; `undefined` if it lists none. */
export function choicesOf(schema: unknown): readonly unknown[] | undefined {
  if (!isSchemaObject(schema)) return undefined;
  if (Array.isArray(schema["enum"])) return schema["enum"];
  return "const" in schema ? [schema["const"]] : undefined;
}

function takesType(schema: JsonSchema, value: unknown): boolean {
  const wanted = wantedTypes(schema);
  if (wanted.length > 0) return wanted.some((type) => isOfType(type, value));
  const choices = choicesOf(schema);
  return choices === undefined || choices.some((choice) => typeof choice === typeof value);
}

function likeness(root: JsonSchema, schema: JsonSchema, value: JsonSchema): number {
  const properties = isSchemaObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
  let score = 0;
  for (const name of required) score += Object.hasOwn(value, name) ? 2 : -2;
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(properties, name)) score -= 1;
    else {
      const choices = choicesOf(followReferences(root, properties[name]));
      // A property with a fixed value is there to tell the branches apart.
      score += choices === undefined ? 1 : choices.includes(value[name]) ? 100 : -100;
    }
  }
  return score;
}
