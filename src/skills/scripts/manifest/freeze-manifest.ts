import { stringify } from "yaml";

import { isSchemaObject, type JsonSchema } from "../../../core/schema/json-schema.ts";
import type { ToolRate } from "../../../core/tool.ts";
import type { ArgvMapping, PropertyPart } from "../argv-mapping.ts";
import { findFileParameters } from "../facts/file-parameters.ts";
import type { ScriptCache, ScriptInterface, ScriptTool } from "../script-interface.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { toDuration } from "./duration.ts";
import { schemaKeys } from "./parse-parameter.ts";

const head = `# How the scripts of this skill are called, as Kitbag read it from their code. What is written here counts more than the code.
# Delete an entry, or a key of it, and Kitbag reads that from the script again.
`;

/**
 * Writes the derived interfaces as the text of `scripts/manifest.yml`. Reading that file gives the same tools: the same schemas and the
 * same command lines.
 */
export function freezeManifest(scripts: readonly ScriptInterface[]): string {
  const tools = scripts.flatMap((script) => script.tools.map((tool) => toEntry(script, tool)));
  return head + stringify({ tools }, { lineWidth: 0, aliasDuplicateObjects: false });
}

function toEntry(script: ScriptInterface, tool: ScriptTool): object {
  const words = tool.mapping.parts.filter((part) => part.kind === "word").map(({ word }) => word);
  return withoutUndefined<Record<string, unknown>>({
    name: tool.name,
    script: script.path.startsWith("scripts/") ? script.path.slice("scripts/".length) : `../${script.path}`,
    command: words.length === 0 ? undefined : words,
    description: tool.description,
    interpreter: script.interpreter,
    parameters: toParameters(tool),
    output: tool.outputSchema,
    ...toLimitFields(tool),
    annotations: tool.annotations,
    hidden: tool.hidden,
    separator: tool.mapping.separator,
    otherFields: tool.mapping.otherFields,
    otherFlags: tool.mapping.otherFlags,
    examples: tool.examples,
    confidence: tool.confidence,
    source: tool.source,
  });
}

function toLimitFields({ limits = {}, cache }: ScriptTool): Record<string, unknown> {
  const { limitMs, retries, rate } = limits;
  return {
    timeout: limitMs === undefined ? undefined : toDuration(limitMs),
    retries,
    rate: rate === undefined ? undefined : toRateField(rate),
    cache: cache === undefined ? undefined : toCacheField(cache),
  };
}

function toRateField({ calls, inMs, burst }: ToolRate): unknown {
  const per = toDuration(inMs);
  return burst === undefined ? `${calls} per ${per}` : { calls, per, burst };
}

function toCacheField({ ttlMs, ...rest }: ScriptCache): unknown {
  const time = toDuration(ttlMs);
  return Object.keys(rest).length === 0 ? time : { for: time, ...rest };
}

function toParameters({ inputSchema, mapping, files }: ScriptTool): readonly object[] {
  const properties = isSchemaObject(inputSchema["properties"]) ? inputSchema["properties"] : {};
  const required: readonly unknown[] = Array.isArray(inputSchema["required"]) ? inputSchema["required"] : [];
  const told = findFileParameters({ inputSchema, mapping, text: "" });
  return withPlaces(mapping).map(({ part, after }) => {
    const schema = Object.hasOwn(properties, part.property) ? properties[part.property] : undefined;
    return withoutUndefined<Record<string, unknown>>({
      name: part.property,
      ...toSchemaFields(isSchemaObject(schema) ? schema : {}),
      required: required.includes(part.property) ? true : undefined,
      file: files?.[part.property] === told[part.property] ? undefined : (files?.[part.property] ?? "none"),
      ...toPassFields(part),
      after,
    });
  });
}

/** The parts that are parameters, each with the number of command words before it; no number if all command words stand before it. */
function withPlaces({ parts }: ArgvMapping): readonly { part: PropertyPart; after: number | undefined }[] {
  const total = parts.filter((part) => part.kind === "word").length;
  const placed: { part: PropertyPart; after: number | undefined }[] = [];
  let words = 0;
  for (const part of parts) {
    if (part.kind === "word") words += 1;
    else placed.push({ part, after: words === total ? undefined : words });
  }
  return placed;
}

const plainKeys = new Set<string>(schemaKeys);

const typeKeys = new Set(["type", "enum", "const", "anyOf"]);

/** The keys of the schema itself, if a parameter of the manifest can have all of them and one tells the type; else the schema under `schema`. */
function toSchemaFields(schema: JsonSchema): object {
  const keys = Object.keys(schema);
  return keys.every((key) => plainKeys.has(key)) && keys.some((key) => typeKeys.has(key)) ? schema : { schema };
}

function toPassFields(part: PropertyPart): object {
  const { property: _, kind, ...rest } = part as PropertyPart & Record<string, unknown>;
  switch (kind) {
    case "flag": {
      const { many, ...flag } = rest;
      return { ...flag, ...(many !== undefined && { list: many }) };
    }
    case "count": {
      const { flag, ...others } = rest;
      return { count: flag, ...others };
    }
    case "positional":
      return { positional: true, ...rest };
    case "env":
      return { env: rest["variable"] };
    case "stdin":
      return { stdin: rest["as"] };
    case "field":
      return { field: true };
    case "choice":
      return rest;
  }
}
