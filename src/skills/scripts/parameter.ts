import type { JsonValue } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { ArgvMapping, ArgvPart, PropertyPart } from "./argv-mapping.ts";
import type { DeclaredPath } from "./facts/file-parameters.ts";

/** One parameter of a tool: what it takes and how it gets into the command line. */
export interface Parameter {
  readonly part: PropertyPart;
  /** Of the value. */
  readonly schema: JsonSchema;
  readonly required: boolean;
  /** Its declaration says that it names a file or a folder. */
  readonly file?: DeclaredPath | undefined;
  /** How many words of the sub-command stand before it, for a parameter of a program or command above. @default all */
  readonly after?: number;
}

/** A command line as its parameters. */
export interface CommandLine {
  readonly parameters: readonly Parameter[];
  /** The words of the sub-command. */
  readonly words?: readonly string[];
  readonly separator?: ArgvMapping["separator"];
  readonly otherFields?: true;
  /** It takes more than these parameters: what they are could not be resolved. */
  readonly open?: true;
}

/** Makes the two views of a command line: the schema of its input, and how that input is written down. */
export function toSchemaAndMapping(line: CommandLine): {
  inputSchema: JsonSchema;
  mapping: ArgvMapping;
  /** What the declarations say about parameters that name files. */
  paths: Readonly<Record<string, DeclaredPath>>;
} {
  const words = line.words ?? [];
  const placeOf = ({ after = words.length }: Parameter): number => Math.min(after, words.length);
  const unique = withUniqueProperties(line.parameters);
  // The schema has them in the order in which they are written.
  const parameters = unique.toSorted((left, right) => placeOf(left) - placeOf(right));
  const required = parameters.filter((parameter) => parameter.required).map(({ part }) => part.property);
  const inputSchema = {
    type: "object",
    properties: Object.fromEntries(parameters.map(({ part, schema }) => [part.property, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: line.otherFields === true || line.open === true,
  };
  const parts: ArgvPart[] = [];
  for (let count = 0; count <= words.length; count++) {
    parts.push(...parameters.filter((parameter) => placeOf(parameter) === count).map(({ part }) => part));
    const word = words[count];
    if (word !== undefined) parts.push({ kind: "word", word });
  }
  const mapping: ArgvMapping = {
    parts,
    ...(line.separator !== undefined && { separator: line.separator }),
    ...(line.otherFields && { otherFields: true }),
    ...(line.open && !line.otherFields && { otherFlags: true }),
  };
  const declared = parameters.flatMap(({ part, file }) => (file === undefined ? [] : [[part.property, file] as const]));
  return { inputSchema, mapping, paths: Object.fromEntries(declared) };
}

function withUniqueProperties(parameters: readonly Parameter[]): readonly Parameter[] {
  const taken = new Set<string>();
  /** The number that the next property of a name gets. */
  const numbers = new Map<string, number>();
  return parameters.map((parameter) => {
    const wanted = parameter.part.property;
    let property = wanted;
    let count = numbers.get(wanted) ?? 2;
    for (; taken.has(property); count++) property = `${wanted}_${count}`;
    taken.add(property);
    numbers.set(wanted, count);
    return property === wanted ? parameter : { ...parameter, part: { ...parameter.part, property } };
  });
}

/** The longest name of a property that every model provider takes. */
const longestProperty = 64;

/** Makes the name of a property from a flag or a placeholder: `--dry-run` → `dry_run`. Empty if no letter or digit is left. */
export function toPropertyName(text: string): string {
  const name = text
    .replace(/^[-/]+/u, "")
    .replaceAll(/[^A-Za-z0-9]+/gu, "_")
    .replaceAll(/^_+|_+$/gu, "");
  // Names that are more than names in JavaScript stay out of every schema.
  const safe = name === "constructor" || name === "prototype" ? `${name}_value` : name;
  return safe.slice(0, longestProperty);
}

/** A value as the type that a schema says, if the text can be one. */
export function fromWord(word: string, schema: JsonSchema): JsonValue {
  const type = schema["type"];
  if (type === "integer" || type === "number") {
    const number = Number(word);
    return word.trim() !== "" && Number.isFinite(number) ? number : word;
  }
  if (type === "boolean") return word === "true" ? true : word === "false" ? false : word;
  return word;
}
