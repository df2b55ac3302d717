import type { JsonValue } from "../../../core/json.ts";
import { describeProblem, quote } from "../../../core/errors.ts";
import { checkSchema } from "../../../core/schema/check-schema.ts";
import { isSchemaObject, type JsonSchema } from "../../../core/schema/json-schema.ts";
import type { ChoicePart, FlagPart, PropertyPart } from "../argv-mapping.ts";
import { toWord } from "../to-argv.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { ManifestParameter } from "./manifest-tool.ts";
import { parseChoice, type Fields } from "./parse-choice.ts";
import type { YamlPlace, YamlReader } from "./yaml-reader.ts";

/** The keys of JSON Schema that a parameter may have itself; all others go under `schema`. */
export const schemaKeys = [
  "type",
  "description",
  "enum",
  "const",
  "default",
  "items",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "pattern",
  "format",
  "anyOf",
] as const;

const passKeys = [
  "flag",
  "aliases",
  "list",
  "joint",
  "joined",
  "alone",
  "booleans",
  "omit",
  "words",
  "count",
  "positional",
  "many",
  "fill",
  "env",
  "stdin",
  "field",
  "after",
] as const;

/** What a parameter of the manifest may hold. */
export const parameterKeys: readonly string[] = ["name", "required", "file", "schema", ...schemaKeys, ...passKeys];

/** Reads the parameters of an entry: a list with names, or a map by name. */
export function parseParameters(reader: YamlReader, place: YamlPlace): readonly ManifestParameter[] {
  const listed = place.items().map((item) => ({ name: nameIn(reader, item), item }));
  const named = place.entries().map((entry) => ({ name: entry.key, item: entry.place }));
  if (listed.length === 0 && named.length === 0 && place.value !== null && !isEmpty(place.value)) {
    reader.expect("a list or a map of parameters", "parameters", place);
  }
  return [...listed, ...named].flatMap(({ name, item }) => (name === "" ? [] : [parseParameter(reader, name, item)]));
}

function isEmpty(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function nameIn(reader: YamlReader, item: YamlPlace): string {
  const entry = item.entries().find(({ key }) => key === "name");
  const name = entry?.place.value;
  if (typeof name === "string" && name !== "") return name;
  reader.report("manifest-invalid", `Cannot use a parameter: it has no "name"`, item);
  return "";
}

function parseParameter(reader: YamlReader, name: string, item: YamlPlace): ManifestParameter {
  reader.refuseUnknown(item, parameterKeys, `of the parameter ${quote(name)}`);
  const fields: Fields = new Map(item.entries().map((entry) => [entry.key, entry.place]));
  const required = fields.get("required")?.value;
  if (required !== undefined && typeof required !== "boolean")
    reader.expect("true or false", "required", fields.get("required") ?? item);
  const after = fields.get("after")?.value;
  return withoutUndefined<ManifestParameter>({
    name,
    schema: toSchema(reader, name, { fields, item }),
    isWhole: fields.has("schema") ? true : undefined,
    required: typeof required === "boolean" ? required : undefined,
    part: toPart(reader, name, fields),
    after: typeof after === "number" ? after : undefined,
    file: parseChoice(reader, fields, "file", ["read", "write", "none"]),
    line: item.line,
  });
}

interface Place {
  readonly fields: Fields;
  readonly item: YamlPlace;
}

function toSchema(reader: YamlReader, name: string, { fields, item }: Place): JsonSchema {
  const whole = fields.get("schema")?.value;
  if (whole !== undefined && !isSchemaObject(whole))
    reader.expect("a JSON Schema", "schema", fields.get("schema") ?? item);
  const own = schemaKeys.flatMap((key) => {
    const value = fields.get(key)?.value;
    return value === undefined ? [] : [[key, value] as const];
  });
  const schema: JsonSchema = { ...(isSchemaObject(whole) ? whole : {}), ...Object.fromEntries(own) };
  for (const problem of checkSchema(schema).slice(0, 5)) {
    reader.report("manifest-invalid", `Cannot use the parameter ${quote(name)}: ${describeProblem(problem)}`, item);
  }
  return schema;
}

function textIn(fields: Fields, key: string): string | undefined {
  const value = fields.get(key)?.value;
  return typeof value === "string" ? value : undefined;
}

type PartParser = (reader: YamlReader, property: string, fields: Fields) => PropertyPart;

/** One way to pass a parameter for each of these keys. */
const partParsers: Readonly<Record<string, PartParser>> = {
  flag: toFlag,
  words: toChoice,
  count: (_reader, property, fields) =>
    withoutUndefined<PropertyPart>({
      kind: "count",
      property,
      flag: textIn(fields, "count") ?? "",
      aliases: textsIn(fields, "aliases"),
    }),
  positional: (_reader, property, fields) =>
    withoutUndefined<PropertyPart>({
      kind: "positional",
      property,
      many: fields.get("many")?.value === true ? true : undefined,
      fill: textIn(fields, "fill"),
    }),
  env: (_reader, property, fields) => ({ kind: "env", property, variable: textIn(fields, "env") ?? property }),
  stdin: (reader, property, fields) => ({
    kind: "stdin",
    property,
    as: parseChoice(reader, fields, "stdin", ["text", "json"]) ?? "text",
  }),
  field: (_reader, property) => ({ kind: "field", property }),
};

function toPart(reader: YamlReader, property: string, fields: Fields): PropertyPart | undefined {
  const [kind, another] = Object.keys(partParsers).filter((key) => fields.has(key));
  const at = another === undefined ? undefined : fields.get(another);
  if (at !== undefined) {
    const both = `as ${quote(kind ?? "")} and as ${quote(another ?? "")}`;
    reader.report("manifest-invalid", `Cannot pass ${quote(property)} ${both}: choose one`, at);
  }
  return kind === undefined ? undefined : partParsers[kind]?.(reader, property, fields);
}

function textsIn(fields: Fields, key: string): readonly string[] | undefined {
  const value = fields.get(key)?.value;
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined;
}

function toFlag(reader: YamlReader, property: string, fields: Fields): FlagPart {
  const flag = textIn(fields, "flag");
  const place = fields.get("flag");
  if (flag === undefined && place) reader.expect('a flag such as "--out"', "flag", place);
  const booleans = textsIn(fields, "booleans");
  return withoutUndefined<FlagPart>({
    kind: "flag",
    property,
    flag: flag ?? "",
    aliases: textsIn(fields, "aliases"),
    many: parseChoice(reader, fields, "list", ["repeat", "list", "comma"]),
    joint: parseChoice(reader, fields, "joint", ["=", ":", ""]),
    joined: parseChoice(reader, fields, "joined", ["always", "dash"]),
    alone: fields.get("alone")?.value,
    booleans: booleans === undefined ? undefined : [booleans[0] ?? "true", booleans[1] ?? "false"],
    omit: fields.get("omit")?.value,
  });
}

/** `words: { true: [--color], false: [--no-color] }` */
function toChoice(reader: YamlReader, property: string, fields: Fields): ChoicePart {
  const place = fields.get("words");
  const entries = place?.entries() ?? [];
  if (place !== undefined && entries.length === 0 && !isEmpty(place.value))
    reader.expect("a map from values to words", "words", place);
  const words = entries.map(
    ({ key, place: { value } }) => [key, (Array.isArray(value) ? value : [value]).map(String)] as const,
  );
  const aliases = fields
    .get("aliases")
    ?.entries()
    .map(({ key, place: { value } }) => [key, toWord(value)] as const);
  return withoutUndefined<ChoicePart>({
    kind: "choice",
    property,
    words: Object.fromEntries(words),
    aliases: aliases === undefined ? undefined : Object.fromEntries(aliases),
  });
}
