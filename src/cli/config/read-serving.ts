import type { JsonObject } from "../../core/json.ts";
import { permissionsSchema } from "../../core/permissions.ts";
import type { ForgePolicy } from "../../forge/forge-interface.ts";
import type { McpExposure, McpExposureRule } from "../../mcp/server/mcp-server-options.ts";
import { readData } from "./read-data.ts";

/** What a configuration says about serving. */
export interface ConfiguredServing {
  /** What clients see: all the same, or each by what it calls itself. The first rule that fits decides. */
  readonly exposure?: McpExposure | readonly McpExposureRule[];
}

/** What a configuration says about the tools that clients make. */
export interface ConfiguredForge {
  readonly policy?: ForgePolicy;
}

const closed = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const exposure = { enum: ["both", "dispatch", "direct"] };
const rule = closed({ client: { type: "string", minLength: 1, maxLength: 256 }, exposure }, ["client", "exposure"]);
const rules = { type: "array", items: rule, maxItems: 256 };

const count = { type: "integer", minimum: 1 };
const texts = { type: "array", items: { type: "string", minLength: 1 } };
const policy = closed({
  permissions: permissionsSchema,
  uses: texts,
  maxBytes: count,
  maxTools: count,
  maxExamples: count,
  maxReplays: { type: "integer", minimum: 0 },
  exampleLimitMs: count,
} satisfies Record<keyof ForgePolicy, JsonObject>);

/**
 * Reads `serve` of a configuration.
 *
 * @throws {KitbagError} `config-invalid`
 */
export function readServing(value: unknown, path: string): ConfiguredServing {
  // Which of the two is meant is told before it is checked: so that what is wrong with a rule is said, and not that it is no text.
  const isList = typeof value === "object" && value !== null && "exposure" in value && Array.isArray(value.exposure);
  return readData({ name: "serve", value }, closed({ exposure: isList ? rules : exposure }), path) as ConfiguredServing;
}

/**
 * Reads `forge` of a configuration.
 *
 * @throws {KitbagError} `config-invalid`
 */
export function readForge(value: unknown, path: string): ConfiguredForge {
  return readData({ name: "forge", value }, closed({ policy }), path) as ConfiguredForge;
}
