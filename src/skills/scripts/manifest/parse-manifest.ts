import { describeProblem, quote } from "../../../core/errors.ts";
import type { Diagnostic } from "../../../core/diagnostics.ts";
import { isName, nameRule } from "../../../core/names.ts";
import { nearestNames } from "../../../core/nearest.ts";
import { checkSchema } from "../../../core/schema/check-schema.ts";
import { isSchemaObject, type JsonSchema } from "../../../core/schema/json-schema.ts";
import { annotationNames, type ToolAnnotations, type ToolExample } from "../../../core/tool.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { ManifestTool } from "./manifest-tool.ts";
import { parseChoice, type Fields } from "./parse-choice.ts";
import { parseCache, parseLimits } from "./parse-limits.ts";
import { parseParameters } from "./parse-parameter.ts";
import { createYamlReader, type YamlPlace, type YamlReader } from "./yaml-reader.ts";

/** Where the manifest of a skill's scripts is. */
export const manifestPath = "scripts/manifest.yml";

/** A manifest, as far as it could be read. */
export interface ParsedManifest {
  readonly tools: readonly ManifestTool[];
  readonly diagnostics: readonly Diagnostic[];
}

/** What an entry of the manifest may hold. */
export const toolKeys = [
  "name",
  "script",
  "command",
  "description",
  "interpreter",
  "parameters",
  "output",
  "timeout",
  "retries",
  "rate",
  "cache",
  "annotations",
  "hidden",
  "confidence",
  "source",
  "examples",
  "separator",
  "otherFields",
  "otherFlags",
];

/**
 * Reads `scripts/manifest.yml`. `paths` are the files of the skill. Contract: never throws; an entry with something wrong in it is
 * reported and left out if it cannot be used.
 */
export function parseManifest(text: string, paths: readonly string[], file: string = manifestPath): ParsedManifest {
  const reader = createYamlReader(text, file);
  if (reader.root === undefined) return { tools: [], diagnostics: reader.diagnostics };
  reader.refuseUnknown(reader.root, ["tools"], "of the manifest");
  const list = reader.root.entries().find(({ key }) => key === "tools")?.place;
  if (list === undefined) {
    reader.report(
      "manifest-invalid",
      'Cannot use the manifest: it has no "tools"',
      reader.root,
      "Write: tools: [{ script: name.py }]",
    );
    return { tools: [], diagnostics: reader.diagnostics };
  }
  const items = list.items();
  if (items.length === 0 && list.value !== null && !(Array.isArray(list.value) && list.value.length === 0))
    reader.expect("a list", "tools", list);
  const tools = items.map((item) => parseTool(reader, item, paths)).filter((tool) => tool !== undefined);
  return { tools, diagnostics: reader.diagnostics };
}

function parseTool(reader: YamlReader, item: YamlPlace, paths: readonly string[]): ManifestTool | undefined {
  reader.refuseUnknown(item, toolKeys, "of a tool");
  const fields: Fields = new Map(item.entries().map((entry) => [entry.key, entry.place]));
  const path = toPath(reader, { fields, item, paths });
  if (path === undefined) return undefined;
  const parameters = fields.get("parameters");
  const annotations = annotationsIn(reader, fields);
  return withoutUndefined<ManifestTool>({
    path,
    words: wordsIn(reader, fields, "command") ?? [],
    line: item.line,
    name: nameIn(reader, fields),
    description: textIn(reader, fields, "description"),
    interpreter: wordsIn(reader, fields, "interpreter"),
    parameters: parameters === undefined ? undefined : parseParameters(reader, parameters),
    outputSchema: schemaIn(reader, fields),
    limits: parseLimits(reader, fields, annotations),
    cache: parseCache(reader, fields),
    annotations,
    hidden: flagIn(reader, fields, "hidden"),
    confidence: parseChoice(reader, fields, "confidence", ["declared", "usage", "opaque"] as const),
    source: textIn(reader, fields, "source"),
    examples: examplesIn(reader, fields),
    separator: parseChoice(reader, fields, "separator", ["needed", "always"] as const),
    otherFields: flagIn(reader, fields, "otherFields") ? true : undefined,
    otherFlags: flagIn(reader, fields, "otherFlags") ? true : undefined,
  });
}

interface ScriptPlace {
  readonly fields: Fields;
  readonly item: YamlPlace;
  readonly paths: readonly string[];
}

/** The script of an entry: a path from `scripts/`, or `../` and one from the skill's folder. */
function toPath(reader: YamlReader, { fields, item, paths }: ScriptPlace): string | undefined {
  const place = fields.get("script");
  const script = place?.value;
  if (place === undefined || typeof script !== "string" || script === "") {
    reader.report(
      "manifest-invalid",
      'Cannot use a tool: it has no "script"',
      place ?? item,
      "Write the name of a file in scripts/",
    );
    return undefined;
  }
  const plain = script.replace(/^\.\//u, "");
  const isAbove = plain.startsWith("../");
  const inside = isAbove ? plain.slice(3) : plain.startsWith("scripts/") ? plain.slice("scripts/".length) : plain;
  const isOutside =
    /^(?:[A-Za-z]:|\/|~)|\\|\0/u.test(inside) ||
    inside.split("/").some((step) => step === ".." || step === "." || step === "");
  if (isOutside) {
    reader.report(
      "manifest-script-outside",
      `Cannot use the script ${quote(script)}: it is not in the skill's folder`,
      place,
      "Move it into scripts/, and name it from there",
    );
    return undefined;
  }
  const path = isAbove ? inside : `scripts/${inside}`;
  if (paths.includes(path)) return path;
  const [nearest] = nearestNames(path, paths, 1);
  reader.report(
    "manifest-script-missing",
    `Cannot find the script ${quote(script)}: there is no file ${quote(path)}`,
    place,
    nearest && `Did you mean ${quote(nearest)}?`,
  );
  return undefined;
}

function nameIn(reader: YamlReader, fields: Fields): string | undefined {
  const place = fields.get("name");
  if (place === undefined) return undefined;
  if (isName(place.value)) return place.value;
  reader.expect(nameRule, "name", place);
  return undefined;
}

function textIn(reader: YamlReader, fields: Fields, key: string): string | undefined {
  const place = fields.get(key);
  if (place === undefined) return undefined;
  if (typeof place.value === "string") return place.value;
  reader.expect("a text", key, place);
  return undefined;
}

function flagIn(reader: YamlReader, fields: Fields, key: string): boolean | undefined {
  const place = fields.get(key);
  if (place === undefined) return undefined;
  if (typeof place.value === "boolean") return place.value;
  reader.expect("true or false", key, place);
  return undefined;
}

/** One text of words, or a list of them. */
function wordsIn(reader: YamlReader, fields: Fields, key: string): readonly string[] | undefined {
  const place = fields.get(key);
  if (place === undefined) return undefined;
  const { value } = place;
  if (typeof value === "string" && value.trim() !== "") return value.trim().split(/\s+/u);
  if (Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string" && word !== ""))
    return value as readonly string[];
  reader.expect("a text or a list of texts", key, place);
  return undefined;
}

function schemaIn(reader: YamlReader, fields: Fields): JsonSchema | undefined {
  const place = fields.get("output");
  if (place === undefined) return undefined;
  if (!isSchemaObject(place.value)) {
    reader.expect("a JSON Schema", "output", place);
    return undefined;
  }
  const problems = checkSchema(place.value);
  for (const problem of problems.slice(0, 5))
    reader.report("manifest-invalid", `Cannot use "output": ${describeProblem(problem)}`, place);
  return problems.length === 0 ? place.value : undefined;
}

function annotationsIn(reader: YamlReader, fields: Fields): ToolAnnotations | undefined {
  const place = fields.get("annotations");
  if (place === undefined) return undefined;
  reader.refuseUnknown(place, annotationNames, "of the annotations");
  const found: [string, boolean][] = [];
  for (const { key, place: inner } of place.entries()) {
    if (!annotationNames.includes(key)) continue;
    if (typeof inner.value === "boolean") found.push([key, inner.value]);
    else reader.expect("true or false", key, inner);
  }
  return Object.fromEntries(found);
}

function examplesIn(reader: YamlReader, fields: Fields): readonly ToolExample[] | undefined {
  const place = fields.get("examples");
  if (place === undefined) return undefined;
  return place.items().flatMap((item) => {
    reader.refuseUnknown(item, ["description", "input", "output"], "of an example");
    const inner: Fields = new Map(item.entries().map((entry) => [entry.key, entry.place]));
    const input = inner.get("input")?.value;
    if (!isSchemaObject(input)) {
      reader.expect("an object", "input", inner.get("input") ?? item);
      return [];
    }
    const description = textIn(reader, inner, "description");
    return [withoutUndefined<ToolExample>({ description, input, output: inner.get("output")?.value })];
  });
}
