import type { JsonValue } from "../../core/json.ts";
import type { FlagPart, PropertyPart } from "./argv-mapping.ts";
import { toPropertyName, type Parameter } from "./parameter.ts";
import { toValueSchema, type ValueFacts } from "./value-schema.ts";
import { withoutUndefined } from "./without-undefined.ts";

/** What a declaration says about a flag. */
export interface FlagDeclaration extends Omit<ValueFacts, "many"> {
  /** All spellings; the first is the one that is written. */
  readonly flags: readonly string[];
  /** The name of the property. @default made from the longest spelling */
  readonly property?: string | undefined;
  readonly required?: boolean | undefined;
  readonly many?: FlagPart["many"] | undefined;
  readonly joint?: FlagPart["joint"] | undefined;
  readonly joined?: FlagPart["joined"] | undefined;
  /** The value for which the flag stands alone. */
  readonly alone?: JsonValue | undefined;
  readonly booleans?: FlagPart["booleans"] | undefined;
  /** A flag without a value that says the opposite: `--no-color`. */
  readonly opposite?: string | undefined;
  /** The script takes its default by itself, so it need not be written. */
  readonly omitsDefault?: boolean | undefined;
}

/** Makes the parameter for a flag with a value. */
export function valueFlag(declaration: FlagDeclaration): Parameter {
  const { flags, many, alone, required } = declaration;
  const single = toValueSchema({ ...declaration, many: many !== undefined });
  const schema = alone === undefined || fits(alone, single["type"]) ? single : orAlone(single, alone);
  const [flag = "", ...aliases] = flags;
  const part = withoutUndefined<FlagPart>({
    kind: "flag",
    property: propertyOf(declaration),
    flag,
    aliases: aliases.length === 0 ? undefined : aliases,
    many,
    joint: declaration.joint,
    joined: declaration.joined,
    alone,
    booleans: declaration.booleans,
    omit: declaration.omitsDefault ? (schema["default"] as JsonValue | undefined) : undefined,
  });
  return { part, schema, required: required === true && schema["default"] === undefined, file: declaration.file };
}

function fits(value: JsonValue, type: unknown): boolean {
  return type === undefined || typeof value === type || (type === "integer" && Number.isInteger(value));
}

/** The value that the flag has when it stands alone is not of the type of the others: usually it is true. */
function orAlone(schema: Readonly<Record<string, unknown>>, alone: JsonValue): Readonly<Record<string, unknown>> {
  const { description, default: fallback, ...value } = schema;
  return withoutUndefined({ anyOf: [value, { const: alone }], description, default: fallback });
}

/** What a declaration says about a flag without a value. */
export type SwitchDeclaration = Pick<
  FlagDeclaration,
  "flags" | "property" | "description" | "default" | "required" | "opposite"
>;

/** Makes the parameter for a flag that is there or not. */
export function switchFlag(declaration: SwitchDeclaration): Parameter {
  const [flag = "", ...aliases] = declaration.flags;
  const { opposite } = declaration;
  const part = withoutUndefined<PropertyPart>({
    kind: "choice",
    property: propertyOf(declaration),
    words: { ...(flag !== "" && { true: [flag] }), ...(opposite !== undefined && { false: [opposite] }) },
    aliases: aliases.length === 0 ? undefined : Object.fromEntries(aliases.map((alias) => [alias, "true"])),
  });
  const schema = toValueSchema({ type: "boolean", default: declaration.default, description: declaration.description });
  return { part, schema, required: declaration.required === true && schema["default"] === undefined };
}

function propertyOf({ property, flags, opposite }: SwitchDeclaration): string {
  const longest = flags.find((flag) => flag.startsWith("--")) ?? flags[0] ?? opposite?.replace(/^--no-/u, "") ?? "";
  return toPropertyName(property ?? longest) || "value";
}

/** What a declaration says about a positional. */
export interface PositionalDeclaration extends ValueFacts {
  readonly name: string;
  readonly required?: boolean | undefined;
}

/** Makes the parameter for a positional. */
export function positional(declaration: PositionalDeclaration): Parameter {
  const schema = toValueSchema(declaration);
  const fill = schema["default"];
  const part = withoutUndefined<PropertyPart>({
    kind: "positional",
    property: toPropertyName(declaration.name) || "value",
    many: declaration.many ? true : undefined,
    fill: typeof fill === "string" || typeof fill === "number" ? String(fill) : undefined,
  });
  return { part, schema, required: declaration.required === true && fill === undefined, file: declaration.file };
}
