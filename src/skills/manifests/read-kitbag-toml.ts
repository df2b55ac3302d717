import type { Diagnostic } from "../../core/diagnostics.ts";
import type { JsonObject } from "../../core/json.ts";
import { permissionKinds, type Permissions } from "../../core/permissions.ts";
import type { ListedDependencies } from "../../core/script-code.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { parseManifestText } from "./parse-manifest-text.ts";
import { emptyManifest, sourceLanguages, type ManifestTool, type SkillManifest } from "./skill-manifest.ts";

const text = { type: "string", minLength: 1 };
const texts = { type: "array", items: text };
const closed = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const annotations = closed(
  Object.fromEntries(["readOnly", "destructive", "idempotent", "openWorld"].map((name) => [name, { type: "boolean" }])),
);

const tool = closed(
  {
    name: text,
    kind: { enum: ["script", "wasm", "pipeline", "reuse"] },
    description: text,
    file: text,
    interpreter: text,
    source: text,
    language: { enum: sourceLanguages },
    input: { type: "object" },
    output: { type: "object" },
    annotations,
    limitMs: { type: "number", exclusiveMinimum: 0 },
    needsApproval: { type: "boolean" },
    steps: { type: "array", items: { type: "object" } },
    uses: text,
    locked: { type: "object" },
    version: text,
  },
  ["name", "kind"],
);

/** What `kitbag.toml` may hold. */
const schema: JsonSchema = closed({
  skill: closed({
    name: text,
    displayName: text,
    version: text,
    description: text,
    capabilities: texts,
    exclusive: { type: "boolean" },
    requires: texts,
    uses: texts,
  }),
  permissions: closed(Object.fromEntries(permissionKinds.map((kind) => [kind, texts]))),
  tools: { type: "array", items: tool, maxItems: 1000 },
  dependencies: closed({ python: texts, npm: texts, cargo: texts }),
  tests: { type: "array", items: closed({ tool: text, input: { type: "object" }, output: {} }, ["tool", "input"]) },
});

interface KitbagToml {
  readonly skill?: Partial<SkillManifest>;
  readonly permissions?: Permissions;
  readonly tools?: readonly ManifestTool[];
  readonly dependencies?: ListedDependencies;
}

/** Reads `kitbag.toml`. */
export function readKitbagToml(
  file: string,
  bytes: Uint8Array,
): { manifest?: SkillManifest; diagnostics: readonly Diagnostic[] } {
  const parsed = parseManifestText<KitbagToml>(file, bytes, schema);
  if (!parsed.ok) return { diagnostics: parsed.diagnostics };
  const { skill = {}, permissions = {}, tools = [], dependencies } = parsed.value;
  const wrong = tools.flatMap((one, index) => checkTool(file, one, index));
  if (wrong.length > 0) return { diagnostics: wrong };
  const packages = dependencies === undefined ? {} : { dependencies };
  return { manifest: { ...emptyManifest, ...skill, file, permissions, tools, ...packages }, diagnostics: [] };
}

const needed = { script: "file", wasm: "file", pipeline: "steps", reuse: "uses" } as const;

function checkTool(file: string, one: ManifestTool, index: number): Diagnostic[] {
  const key = needed[one.kind];
  const isBuilt = one.source !== undefined || one.language !== undefined;
  if (one[key] !== undefined && (one.kind === "wasm" || !isBuilt)) return [];
  const reason = one[key] === undefined ? `and needs "${key}"` : 'and is not built: only "wasm" has a "source"';
  const message = `Cannot use ${file}: tools[${index}] ("${one.name}") is a ${one.kind} ${reason}`;
  return [{ severity: "error", code: "manifest-invalid", message, file }];
}
