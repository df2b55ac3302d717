import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { findParameter, toFlagNames } from "./flag-names.ts";
import { getShape, isSwitch, type ObjectShape } from "./parameter.ts";

/** The parameter that a flag sets. */
export interface Flag {
  readonly path: readonly string[];
  readonly schema: JsonSchema;
  /** `--no-verbose` for `verbose`. */
  readonly isNegated: boolean;
}

/** Names that objects have without being given them: as a parameter they are an attack or a mistake. */
const refusedNames = new Set(["__proto__", "constructor", "prototype"]);

/** Finds the parameter of a flag, `name` being what follows `--`. */
export function findFlag(schema: JsonSchema, name: string): Flag | undefined {
  const isNegative = name.startsWith("no-");
  const found = findPath(schema, name.split("."), { declaredOnly: isNegative });
  if (found !== undefined) return { ...found, isNegated: false };
  const positive = isNegative ? findPath(schema, name.slice(3).split("."), { declaredOnly: true }) : undefined;
  return positive !== undefined && isSwitch(schema, positive.schema) ? { ...positive, isNegated: true } : undefined;
}

interface FoundPath {
  readonly path: readonly string[];
  readonly schema: JsonSchema;
}

interface FindOptions {
  /** Only parameters that the schema names, though it would take others. */
  readonly declaredOnly: boolean;
}

function findPath(root: JsonSchema, words: readonly string[], options: FindOptions): FoundPath | undefined {
  const path: string[] = [];
  let schema = root;
  for (let rest = words; rest.length > 0;) {
    const step = findStep(getShape(root, schema), rest, options);
    if (step === undefined) return undefined;
    path.push(step.parameter);
    ({ schema, rest } = step);
  }
  return { path, schema };
}

interface Step {
  readonly parameter: string;
  readonly schema: JsonSchema;
  /** What of the flag is left for the objects inside. */
  readonly rest: readonly string[];
}

function findStep(
  { properties, others }: ObjectShape,
  words: readonly string[],
  { declaredOnly }: FindOptions,
): Step | undefined {
  // A name may contain dots, so the longest one that is a parameter wins.
  for (let count = words.length; count > 0; count--) {
    const parameter = findParameter(words.slice(0, count).join("."), properties.keys());
    const schema = parameter === undefined ? undefined : properties.get(parameter);
    if (parameter !== undefined && schema !== undefined && parameter !== "__proto__") {
      return { parameter, schema, rest: words.slice(count) };
    }
  }
  const [parameter = "", ...rest] = words;
  if (others === undefined || declaredOnly || parameter === "" || refusedNames.has(parameter)) return undefined;
  return { parameter, schema: others, rest };
}

/** The flags of a schema, without `--`: those of objects inside follow the object, down to the third level. */
export function listFlags(root: JsonSchema, schema: JsonSchema = root, depth = 0): string[] {
  const { properties } = getShape(root, schema);
  const names = toFlagNames(properties.keys());
  return [...properties].flatMap(([parameter, property]) => {
    const name = names.get(parameter) ?? parameter;
    const inside = depth < 2 ? listFlags(root, property, depth + 1).map((inner) => `${name}.${inner}`) : [];
    return [name, ...inside];
  });
}
