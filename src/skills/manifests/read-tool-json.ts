import type { Diagnostic } from "../../core/diagnostics.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import { permissionsSchema, type Permissions } from "../../core/permissions.ts";
import type { ListedDependencies } from "../../core/script-code.ts";
import type { ToolAnnotations, ToolExample, ToolLimits } from "../../core/tool.ts";
import { withoutUndefined } from "../scripts/without-undefined.ts";
import { parseManifestText, type ParsedManifest } from "./parse-manifest-text.ts";
import { emptyManifest, sourceLanguages, type ManifestTool, type SkillManifest } from "./skill-manifest.ts";

const text = { type: "string", minLength: 1 };
const texts = { type: "array", items: text };

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
    pipeline_output: {},
    title: text,
    source_file: text,
    language: { enum: [...sourceLanguages] },
    permissions: permissionsSchema,
    dependencies: {
      type: ["object", "array"],
      properties: { python: texts, npm: texts, cargo: texts },
      additionalProperties: false,
      items: text,
    },
    limits: { type: "object" },
    needs_approval: { type: "boolean" },
    examples: {
      type: "array",
      items: { type: "object", properties: { input: { type: "object" } }, required: ["input"] },
    },
    uses: texts,
    author: text,
    author_scopes: texts,
    owner: text,
    shared: { type: "boolean" },
    disabled: { type: "boolean" },
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

/** What `manifest.json` of a folder that is one tool says. */
export interface ToolJson {
  readonly name: string;
  readonly title?: string;
  readonly version?: string;
  readonly description?: string;
  readonly tool_type: "script" | "wasm" | "pipeline";
  readonly entry_file?: string;
  readonly interpreter?: string;
  /** What a WASM module is built from. */
  readonly source_file?: string;
  readonly language?: (typeof sourceLanguages)[number];
  readonly input_schema?: JsonObject;
  readonly output_schema?: JsonObject | null;
  /** As MCP names them: `readOnlyHint`, …. */
  readonly annotations?: JsonObject;
  readonly permissions?: Permissions;
  /** A list is of the packages of the script's own language. */
  readonly dependencies?: ListedDependencies | readonly string[];
  readonly limits?: ToolLimits;
  readonly needs_approval?: boolean;
  readonly examples?: readonly ToolExample[];
  readonly pipeline_steps?: readonly JsonObject[];
  readonly pipeline_output?: JsonValue;
  /** The addresses of the tools that its code calls. */
  readonly uses?: readonly string[];
  readonly author?: string;
  /** What the author could call when it was made. @default everything */
  readonly author_scopes?: readonly string[];
  /** The user for whom alone it is there, unless it is shared. @default it is there for every user */
  readonly owner?: string;
  readonly shared?: boolean;
  /** It is not to be used any more. */
  readonly disabled?: boolean;
}

/** Parses `manifest.json` of a folder that is one tool. Unknown keys stay in the value. */
export function parseToolJson(file: string, bytes: Uint8Array): ParsedManifest<ToolJson> {
  return parseManifestText<ToolJson>(file, bytes, schema);
}

/** Reads `manifest.json`: a folder that is one tool. */
export function readToolJson(
  file: string,
  bytes: Uint8Array,
  files: ReadonlySet<string>,
): { manifest?: SkillManifest; diagnostics: readonly Diagnostic[] } {
  const parsed = parseToolJson(file, bytes);
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

function toParts(tool: ToolJson): Partial<SkillManifest> {
  const { name, version, description = `The tool ${name}`, permissions = {} } = tool;
  const dependencies = toDependencies(tool);
  return {
    name,
    description,
    permissions,
    ...(version !== undefined && isVersion(version) && { version }),
    ...(dependencies !== undefined && { dependencies }),
  };
}

/** The packages that a manifest lists, each under its language. */
export function toDependencies({ dependencies, entry_file = "" }: ToolJson): ListedDependencies | undefined {
  if (!Array.isArray(dependencies)) return dependencies as ListedDependencies | undefined;
  if (dependencies.length === 0) return undefined;
  return /\.[cm]?[jt]sx?$/u.test(entry_file) ? { npm: dependencies } : { python: dependencies };
}

function toTool(tool: ToolJson, entry: string | undefined): ManifestTool {
  const { name, description = `The tool ${name}`, limits = {} } = tool;
  return {
    name,
    kind: tool.tool_type,
    description,
    annotations: fromHints(tool.annotations),
    ...withoutUndefined<Partial<ManifestTool>>({
      file: entry,
      interpreter: tool.interpreter,
      input: tool.input_schema,
      output: tool.output_schema ?? undefined,
      steps: tool.pipeline_steps,
      source: tool.source_file,
      language: tool.language,
      limitMs: limits.limitMs,
      retries: limits.retries,
      rate: limits.rate,
      needsApproval: tool.needs_approval,
    }),
  };
}

/** Annotations as MCP names them, in our words. */
export function fromHints(annotations: JsonObject = {}): ToolAnnotations {
  return Object.fromEntries(
    Object.entries(hints).flatMap(([hint, name]) =>
      typeof annotations[hint] === "boolean" ? [[name, annotations[hint]]] : [],
    ),
  );
}

/** Our annotations as MCP names them. */
export function toHints(annotations: ToolAnnotations): JsonObject {
  return Object.fromEntries(
    Object.entries(hints).flatMap(([hint, name]) => {
      const value = annotations[name];
      return value === undefined ? [] : [[hint, value]];
    }),
  );
}

const hints = {
  readOnlyHint: "readOnly",
  destructiveHint: "destructive",
  idempotentHint: "idempotent",
  openWorldHint: "openWorld",
} as const;

function findEntry({ name, tool_type }: ToolJson, files: ReadonlySet<string>): string | undefined {
  const isEntry = (path: string): boolean =>
    path.startsWith(`${name}.`) && path.endsWith(".wasm") === (tool_type === "wasm");
  return [...files].find(isEntry);
}

function isVersion(version: string): boolean {
  return /^\d+\.\d+\.\d+/u.test(version);
}
