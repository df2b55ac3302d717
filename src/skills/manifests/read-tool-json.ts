import type { Diagnostic } from "../../core/diagnostics.ts";
import type { JsonObject } from "../../core/json.ts";
import { parseManifestText } from "./parse-manifest-text.ts";
import { emptyManifest, type ManifestTool, type SkillManifest } from "./skill-manifest.ts";

const text = { type: "string", minLength: 1 };

/** What `manifest.json` of a folder that is one tool may hold. Other keys are kept by those who wrote them. */
const schema = {
  type: "object",
  properties: {
    name: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" },
    version: text,
    description: text,
    tool_type: { enum: ["wasm", "script", "pipeline"] },
    entry_file: text,
    interpreter: text,
    input_schema: { type: "object" },
    output_schema: { type: ["object", "null"] },
    annotations: { type: "object" },
    pipeline_steps: { type: "array", items: { type: "object" } },
  },
  required: ["name", "tool_type"],
};

/**
 * Tells whether a `manifest.json` describes a tool: many other things have a file of this name. One that cannot be parsed counts if
 * it says what kind of tool it is, so that its author hears what is wrong with it.
 */
export function isToolManifest(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes);
  if (!/"tool_type"\s*:/u.test(text)) return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && Object.hasOwn(value, "tool_type");
  } catch {
    return true;
  }
}

interface ToolJson {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly tool_type: ManifestTool["kind"];
  readonly entry_file?: string;
  readonly interpreter?: string;
  readonly input_schema?: JsonObject;
  readonly output_schema?: JsonObject | null;
  readonly annotations?: JsonObject;
  readonly pipeline_steps?: readonly JsonObject[];
}

/** Reads `manifest.json`: a folder that is one tool. */
export function readToolJson(
  file: string,
  bytes: Uint8Array,
  files: ReadonlySet<string>,
): { manifest?: SkillManifest; diagnostics: readonly Diagnostic[] } {
  const parsed = parseManifestText<ToolJson>(file, bytes, schema);
  if (!parsed.ok) return { diagnostics: parsed.diagnostics };
  const tool = parsed.value;
  const entry = tool.entry_file ?? findEntry(tool, files);
  if (tool.tool_type !== "pipeline" && (entry === undefined || !files.has(entry))) {
    const found = entry === undefined ? "it names no entry_file" : `entry_file "${entry}" is not in the folder`;
    return {
      diagnostics: [{ severity: "error", code: "manifest-incomplete", message: `Cannot use ${file}: ${found}`, file }],
    };
  }
  return { manifest: { ...emptyManifest, ...toParts(tool), file, tools: [toTool(tool, entry)] }, diagnostics: [] };
}

function toParts({ name, version, description = `The tool ${name}` }: ToolJson): Partial<SkillManifest> {
  return { name, description, ...(version !== undefined && isVersion(version) && { version }) };
}

function toTool(tool: ToolJson, entry: string | undefined): ManifestTool {
  const {
    name,
    tool_type,
    description,
    interpreter,
    input_schema,
    output_schema,
    annotations = {},
    pipeline_steps,
  } = tool;
  return {
    name,
    kind: tool_type,
    description: description ?? `The tool ${name}`,
    ...(entry !== undefined && { file: entry }),
    ...(interpreter !== undefined && { interpreter }),
    ...(input_schema !== undefined && { input: input_schema }),
    ...(output_schema !== undefined && output_schema !== null && { output: output_schema }),
    annotations: Object.fromEntries(
      Object.entries(hints).flatMap(([hint, name]) =>
        typeof annotations[hint] === "boolean" ? [[name, annotations[hint]]] : [],
      ),
    ),
    ...(pipeline_steps !== undefined && { steps: pipeline_steps }),
  };
}

const hints = {
  readOnlyHint: "readOnly",
  destructiveHint: "destructive",
  idempotentHint: "idempotent",
  openWorldHint: "openWorld",
};

function findEntry({ name, tool_type }: ToolJson, files: ReadonlySet<string>): string | undefined {
  const isEntry = (path: string): boolean =>
    path.startsWith(`${name}.`) && path.endsWith(".wasm") === (tool_type === "wasm");
  return [...files].find(isEntry);
}

function isVersion(version: string): boolean {
  return /^\d+\.\d+\.\d+/u.test(version);
}
