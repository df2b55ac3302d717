import type { Diagnostic } from "../../../core/diagnostics.ts";
import { quote } from "../../../core/errors.ts";
import { nearestNames } from "../../../core/nearest.ts";
import { isSchemaObject, type JsonSchema } from "../../../core/schema/json-schema.ts";
import type { ToolLimits } from "../../../core/tool.ts";
import type { PropertyPart } from "../argv-mapping.ts";
import { opaqueArguments } from "../derived-interface.ts";
import { findFileParameters } from "../facts/file-parameters.ts";
import { toSchemaAndMapping, type Parameter } from "../parameter.ts";
import type { ScriptInterface, ScriptTool } from "../script-interface.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { ManifestParameter, ManifestTool } from "./manifest-tool.ts";
import { manifestPath } from "./parse-manifest.ts";

/** Scripts with what their manifest says about them. */
export interface AppliedManifest {
  readonly scripts: readonly ScriptInterface[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Puts the entries of a manifest over what was read from the scripts. A script that it names is a tool, whatever it looked like. */
export function applyManifest(scripts: readonly ScriptInterface[], entries: readonly ManifestTool[]): AppliedManifest {
  const diagnostics: Diagnostic[] = [];
  const byPath = Map.groupBy(entries, ({ path }) => path);
  const applied = scripts.map((script) => {
    const own = byPath.get(script.path);
    return own === undefined ? script : withEntries(script, own, diagnostics);
  });
  return { scripts: applied, diagnostics };
}

function wordsOf(tool: ScriptTool): readonly string[] {
  return tool.mapping.parts.filter((part) => part.kind === "word").map(({ word }) => word);
}

function withEntries(
  script: ScriptInterface,
  entries: readonly ManifestTool[],
  diagnostics: Diagnostic[],
): ScriptInterface {
  const replacesAll =
    entries.some(({ words }) => words.length === 0) && script.tools.every((tool) => wordsOf(tool).length > 0);
  const kept = replacesAll ? [] : script.tools;
  const left = new Map(entries.map((entry) => [entry.words.join(" "), entry]));
  const refined = kept.map((tool) => {
    const key = wordsOf(tool).join(" ");
    const entry = left.get(key);
    left.delete(key);
    return entry === undefined ? tool : toTool(entry, tool, diagnostics);
  });
  const added = [...left.values()].map((entry) => toTool(entry, emptyTool(script, entry), diagnostics));
  const interpreter = entries.find((entry) => entry.interpreter !== undefined)?.interpreter;
  return {
    ...script,
    ...(interpreter !== undefined && { interpreter }),
    ...(script.kind !== "tool" && { kind: "tool", reason: "the manifest names it" }),
    tools: [...refined, ...added],
  };
}

/** What is known about an entry for which the script has nothing. */
function emptyTool(script: ScriptInterface, entry: ManifestTool): ScriptTool {
  const [command = { parameters: [] }] =
    entry.parameters === undefined ? opaqueArguments().commands : [{ parameters: [] }];
  const { paths: _, ...line } = toSchemaAndMapping({ ...command, words: entry.words });
  return {
    name: "",
    description: `Run ${script.path}`,
    ...line,
    confidence: "opaque",
    source: "manifest",
    examples: [],
  };
}

function toTool(entry: ManifestTool, derived: ScriptTool, diagnostics: Diagnostic[]): ScriptTool {
  const { inputSchema, mapping, files } =
    entry.parameters === undefined ? derived : toLine(entry, derived, diagnostics);
  const isWritten = entry.parameters !== undefined;
  return withoutUndefined<ScriptTool>({
    ...derived,
    name: entry.name ?? derived.name,
    description: entry.description ?? derived.description,
    inputSchema,
    mapping,
    files,
    outputSchema: entry.outputSchema ?? derived.outputSchema,
    confidence: entry.confidence ?? (isWritten ? "declared" : derived.confidence),
    source: entry.source ?? (isWritten ? "manifest" : derived.source),
    examples: entry.examples ?? derived.examples,
    annotations: entry.annotations ?? derived.annotations,
    limits: joinLimits(entry, derived),
    cache: entry.cache ?? derived.cache,
    hidden: entry.hidden === undefined ? derived.hidden : entry.hidden ? true : undefined,
  });
}

function joinLimits({ limits }: ManifestTool, derived: ScriptTool): ToolLimits | undefined {
  return limits === undefined ? derived.limits : { ...derived.limits, ...limits };
}

function toLine(
  entry: ManifestTool,
  derived: ScriptTool,
  diagnostics: Diagnostic[],
): Pick<ScriptTool, "inputSchema" | "mapping" | "files"> {
  const parameters = (entry.parameters ?? []).flatMap((parameter, index) => {
    const made = toParameter(parameter, derived, index);
    if (made !== undefined) return [made];
    diagnostics.push(unmapped(parameter, derived));
    return [];
  });
  const { paths, ...line } = toSchemaAndMapping(
    withoutUndefined<Parameters<typeof toSchemaAndMapping>[0]>({
      parameters,
      words: entry.words,
      separator: entry.separator ?? (hasOwnParts(entry) ? undefined : derived.mapping.separator),
      otherFields: entry.otherFields ?? (hasOwnParts(entry) ? undefined : derived.mapping.otherFields),
      open: entry.otherFlags,
    }),
  );
  const files = findFileParameters({ ...line, text: "", declared: paths });
  return { ...line, ...(Object.keys(files).length > 0 && { files }) };
}

/** An entry that says of each parameter how it is passed says all there is to say. */
function hasOwnParts({ parameters = [] }: ManifestTool): boolean {
  return parameters.every(({ part }) => part !== undefined);
}

function toParameter(parameter: ManifestParameter, derived: ScriptTool, index: number): Parameter | undefined {
  const { part, schema, isWhole, required = false, after, file } = parameter;
  if (part !== undefined)
    return withoutUndefined<Parameter>({ part, schema: isWhole ? schema : typed(schema), required, after, file });
  const known = findPart(parameter.name, derived, index);
  if (known === undefined) return undefined;
  const before = schemaOf(derived, known.property);
  const wasRequired = requiredOf(derived).includes(known.property);
  return {
    file: file ?? derived.files?.[known.property],
    part: { ...known, property: parameter.name },
    schema: typed({ ...before, ...schema }),
    required: parameter.required ?? wasRequired,
  };
}

/** A parameter of which nothing is said is a text. */
function typed(schema: JsonSchema): JsonSchema {
  return Object.keys(schema).some((key) => key !== "description" && key !== "default")
    ? schema
    : { type: "string", ...schema };
}

function schemaOf({ inputSchema }: ScriptTool, property: string): JsonSchema {
  const properties = inputSchema["properties"];
  const schema = isSchemaObject(properties) && Object.hasOwn(properties, property) ? properties[property] : undefined;
  return isSchemaObject(schema) ? schema : {};
}

function requiredOf({ inputSchema }: ScriptTool): readonly unknown[] {
  return Array.isArray(inputSchema["required"]) ? inputSchema["required"] : [];
}

/**
 * The part of the script's own parameter with this name; where the script's parameters have no names of their own, the one at
 * this place.
 */
function findPart(name: string, { mapping, confidence }: ScriptTool, index: number): PropertyPart | undefined {
  const parts = mapping.parts.filter((part) => part.kind !== "word");
  const fold = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/gu, "");
  const named = parts.find((part) => fold(part.property) === fold(name));
  if (named !== undefined) return named;
  if (confidence === "opaque" || parts.length === 0) return { kind: "positional", property: name };
  const isNameless = parts.every((part) => part.kind === "positional" && /^arg\d+$/u.test(part.property));
  return isNameless ? parts[index] : undefined;
}

function unmapped({ name, line }: ManifestParameter, { mapping }: ScriptTool): Diagnostic {
  const known = mapping.parts.flatMap((part) => (part.kind === "word" ? [] : [part.property]));
  const [nearest] = nearestNames(name, known, 1);
  return {
    severity: "error",
    code: "parameter-unmapped",
    message: `Cannot pass the parameter ${quote(name)}: the script has none of this name, and the manifest does not say how`,
    file: manifestPath,
    line,
    cure:
      nearest === undefined
        ? "Add flag: --name, positional: true, env: NAME or stdin: text"
        : `Did you mean ${quote(nearest)}? Or add flag: --name, positional: true`,
  };
}
