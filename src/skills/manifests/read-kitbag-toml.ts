import type { Diagnostic } from "../../core/diagnostics.ts";
import type { JsonObject } from "../../core/json.ts";
import { skillMcpSchema, toMcpSource, type McpServerEntry } from "../../core/mcp-source.ts";
import { isName, nameRule } from "../../core/names.ts";
import { permissionsSchema, type Permissions } from "../../core/permissions.ts";
import type { ListedDependencies } from "../../core/script-code.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { annotationNames } from "../../core/tool.ts";
import { withoutUndefined } from "../scripts/without-undefined.ts";
import { parseManifestText } from "./parse-manifest-text.ts";
import {
  emptyManifest,
  sourceLanguages,
  type ManifestTest,
  type ManifestTool,
  type SkillManifest,
} from "./skill-manifest.ts";

const text = { type: "string", minLength: 1 };
const texts = { type: "array", items: text };
const closed = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const annotations = closed(Object.fromEntries(annotationNames.map((name) => [name, { type: "boolean" }])));

const count = { type: "integer", minimum: 1 };
const tags = { type: "array", items: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$" } };

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
    files: { type: "object", additionalProperties: { enum: ["read", "write"] } },
    annotations,
    limitMs: { type: "number", exclusiveMinimum: 0 },
    retries: { type: "integer", minimum: 0, maximum: 10 },
    rate: closed({ calls: count, inMs: count, burst: count }, ["calls", "inMs"]),
    cache: closed({ ttlMs: count, tags, scope: { enum: ["user", "everybody"] } }, ["ttlMs"]),
    needsApproval: { type: "boolean" },
    steps: { type: "array", items: { type: "object" } },
    uses: text,
    locked: { type: "object" },
    version: text,
  },
  ["name", "kind"],
);

/** What `kitbag.toml` may hold. */
export const kitbagTomlSchema: JsonSchema = closed({
  skill: closed({
    name: text,
    displayName: text,
    version: text,
    description: text,
    capabilities: texts,
    exclusive: { type: "boolean" },
    requires: texts,
    uses: texts,
    author: text,
    authorScopes: texts,
    owner: text,
    shared: { type: "boolean" },
  }),
  needs: closed({
    kitbag: text,
    node: text,
    system: { type: "array", items: { enum: ["linux", "macos", "windows"] }, minItems: 1 },
  }),
  permissions: permissionsSchema,
  tools: { type: "array", items: tool, maxItems: 1000 },
  dependencies: closed({ python: texts, npm: texts, cargo: texts }),
  mcp: { type: "object", additionalProperties: skillMcpSchema, maxProperties: 32 },
  tests: {
    type: "array",
    items: closed({ tool: text, description: text, input: { type: "object" }, output: {} }, ["tool", "input"]),
  },
});

interface KitbagToml {
  readonly skill?: Partial<SkillManifest>;
  readonly needs?: NonNullable<SkillManifest["needs"]>;
  readonly permissions?: Permissions;
  readonly tools?: readonly ManifestTool[];
  readonly dependencies?: ListedDependencies;
  readonly tests?: readonly ManifestTest[];
  readonly mcp?: Readonly<Record<string, McpServerEntry>>;
}

/** Reads `kitbag.toml`. */
export function readKitbagToml(
  file: string,
  bytes: Uint8Array,
): { manifest?: SkillManifest; diagnostics: readonly Diagnostic[] } {
  const parsed = parseManifestText<KitbagToml>(file, bytes, kitbagTomlSchema);
  if (!parsed.ok) return { diagnostics: parsed.diagnostics };
  const { skill = {}, permissions = {}, tools = [], needs, dependencies, tests, mcp } = parsed.value;
  const servers = Object.entries(mcp ?? {}).flatMap(([name, one]) => checkServer(file, [name, one], permissions));
  const wrong = [...tools.flatMap((one, index) => checkTool(file, one, index)), ...servers];
  if (wrong.length > 0) return { diagnostics: wrong };
  const more = withoutUndefined<Partial<SkillManifest>>({ needs, dependencies, tests, mcp });
  return { manifest: { ...emptyManifest, ...skill, file, permissions, tools, ...more }, diagnostics: [] };
}

function checkServer(file: string, [name, listed]: [string, McpServerEntry], permissions: Permissions): Diagnostic[] {
  const source = isName(name) ? toMcpSource(name, listed, { permissions }) : `its name must be of ${nameRule}`;
  if (typeof source !== "string") return [];
  const message = `Cannot use ${file}: the server mcp.${name}: ${source}`;
  return [{ severity: "error", code: "manifest-invalid", message, file }];
}

const needed = { script: "file", wasm: "file", pipeline: "steps", reuse: "uses" } as const;

/** What only tools have that are run themselves, and not through others. */
const ownParts = ["retries", "rate", "cache"] as const;

function checkTool(file: string, one: ManifestTool, index: number): Diagnostic[] {
  const wrong = findWrong(one);
  if (wrong === undefined) return [];
  const message = `Cannot use ${file}: tools[${index}] ("${one.name}") is a ${one.kind} ${wrong.reason}`;
  const cure = wrong.cure === undefined ? {} : { cure: wrong.cure };
  return [{ severity: "error", code: "manifest-invalid", message, file, ...cure }];
}

function findWrong(one: ManifestTool): { readonly reason: string; readonly cure?: string } | undefined {
  const key = needed[one.kind];
  if (one[key] === undefined) return { reason: `and needs "${key}"` };
  const isBuilt = one.source !== undefined || one.language !== undefined;
  if (isBuilt && one.kind !== "wasm") return { reason: 'and is not built: only "wasm" has a "source"' };
  const part = ownParts.find((name) => one[name] !== undefined);
  if (part !== undefined && (one.kind === "pipeline" || one.kind === "reuse"))
    return { reason: `and has no "${part}"`, cure: `Set "${part}" for the tools that it calls` };
  const { annotations: { idempotent, readOnly } = {}, retries = 0 } = one;
  if (retries === 0 || idempotent === true || readOnly === true) return undefined;
  return {
    reason: 'and has "retries", but is neither idempotent nor read-only, so it must not be run twice',
    cure: "If it may be run twice, add annotations = { idempotent = true }, or { readOnly = true } if it changes nothing",
  };
}
