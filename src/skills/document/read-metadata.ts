import { quote } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Fields } from "./fields.ts";
import { toJson, toJsonObject, toText, type FieldValue } from "./front-matter.ts";
import type { Reporter } from "./reporter.ts";
import type { DeclaredTool, SkillDocument } from "./skill-document.ts";

/** What every key of Kitbag's own starts with, under `metadata`. */
const ownPrefix = "kitbag-";

type Metadata = Pick<SkillDocument, "metadata" | "kitbag">;

/** Reads `metadata` as texts; values that are something else are reported. */
export function readMetadata(fields: Fields, reporter: Reporter): Metadata {
  const value = fields.get("metadata")?.value;
  if (value === undefined || (value.kind === "scalar" && value.value === null)) return { metadata: {}, kitbag: {} };
  if (value.kind !== "map") {
    const found = value.kind === "list" ? "a list" : "one value";
    reporter.report(
      "metadata-not-map",
      `metadata is ${found}; it is ignored`,
      fields.at(value),
      'Write "key: text" lines below it',
    );
    return { metadata: {}, kitbag: {} };
  }
  const metadata: Record<string, string> = {};
  const kitbag: Record<string, string> = {};
  for (const { key, value: entry } of value.fields) {
    const text = toMetadataText(entry);
    metadata[key] = text;
    if (key.startsWith(ownPrefix)) kitbag[key.slice(ownPrefix.length)] = text;
    if (entry.kind === "scalar" && typeof entry.value === "string") continue;
    const message = `metadata.${key} is ${describeKind(entry)}, not text; it is read as ${quote(text)}`;
    const isPlain = entry.kind === "scalar" && entry.value !== null;
    reporter.report(
      isPlain ? "metadata-unquoted" : "metadata-not-text",
      message,
      fields.at(entry),
      `Write: ${key}: ${JSON.stringify(text).slice(0, 80)}`,
    );
  }
  return { metadata, kitbag };
}

function toMetadataText(value: FieldValue): string {
  return value.kind === "scalar" ? value.text : JSON.stringify(toJson(value));
}

function describeKind(value: FieldValue): string {
  if (value.kind !== "scalar") return `a ${value.kind}`;
  return value.value === null ? "nothing" : `a ${typeof value.value}`;
}

/** Reads the tools that a skill says it uses: `metadata.kitbag-tools`, or else a top-level `tools:`. */
export function readTools(fields: Fields, reporter: Reporter): readonly DeclaredTool[] {
  const metadata = fields.get("metadata")?.value;
  const own = metadata?.kind === "map" ? metadata.fields.find(({ key }) => key === `${ownPrefix}tools`) : undefined;
  const field = own ?? fields.get("tools");
  if (field === undefined) return [];
  const from = own === undefined ? "tools" : "metadata";
  const tools: DeclaredTool[] = [];
  const declare = (reference: string, value: FieldValue, definition?: JsonObject): void => {
    tools.push({ reference, from, ...(definition !== undefined && { definition }), ...fields.at(value) });
  };
  for (const value of field.value.kind === "list" ? field.value.items : [field.value]) {
    if (value.kind === "scalar") for (const reference of toReferences(value.text)) declare(reference, value);
    else if (!declareMap(value, field.value, declare)) {
      const message = "A declared tool has no name; it is left out";
      reporter.report("tools-invalid", message, fields.at(value), "Write its name, or a map with a name");
    }
  }
  return tools;
}

function toReferences(text: string): string[] {
  return text.split(/[\s,]+/u).filter((reference) => reference !== "" && reference !== "-");
}

type Declare = (reference: string, value: FieldValue, definition?: JsonObject) => void;

/** An entry of a list is one tool with a `name`; a map in place of the list has the names as keys. */
function declareMap(value: FieldValue, whole: FieldValue, declare: Declare): boolean {
  if (value.kind !== "map") return false;
  const named = toText(value.fields.find(({ key }) => key === "name")?.value);
  if (value !== whole || named !== undefined) {
    if (named === undefined) return false;
    declare(named, value, toJsonObject(value.fields));
    return true;
  }
  for (const { key, value: definition } of value.fields) {
    declare(key, definition, definition.kind === "map" ? toJsonObject(definition.fields) : undefined);
  }
  return true;
}
