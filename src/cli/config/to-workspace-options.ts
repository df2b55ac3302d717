import { suggest } from "../cli-command.ts";
import { describeProblem, KitbagError, quote } from "../../core/errors.ts";
import { copyJson, isRecord, type JsonObject, type JsonValue, showValue } from "../../core/json.ts";
import { type McpSource, configMcpSchema, type McpServerEntry, toMcpSource } from "../../core/mcp-source.ts";
import { isName, nameRule } from "../../core/names.ts";
import { permissionsSchema } from "../../core/permissions.ts";
import { checkStrictly } from "../../core/schema/validator.ts";
import type { ForgePolicy } from "../../forge/forge-interface.ts";
import type { McpExposure } from "../../mcp/server/client.ts";
import type { McpExposureRule } from "../../mcp/server/mcp-server-options.ts";
import type { Model } from "../../models/model.ts";
import { createOwnPrices, type OwnPrices } from "../../models/prices/own-prices.ts";
import type { PackageOptions } from "../../packages/install/package-options.ts";
import { defaultLimits, toLimits, type WorkspaceLimits } from "../../workspace/options/limits.ts";
import { checkQuotas, type QuotaOptions } from "../../workspace/quotas/quota-options.ts";
import { checkRates, type RateLimit } from "../../workspace/rates/rate-limit.ts";
import type { WorkspaceOptions } from "../../workspace/workspace.ts";
import { fromConfig } from "../sandbox/read-packages.ts";

/** What a configuration says: options of the workspace, and what is for the command alone. */
export interface Configuration extends WorkspaceOptions {
  /** The model of agents, or the name of one. */
  readonly model?: Model | string;
  /** What models cost whose price is not known, or is another one for you. Code only: who sets prices sets what `--max-cost` means. */
  readonly prices?: OwnPrices;
  /** Other MCP servers, as sources of tools. */
  readonly mcp?: readonly McpSource[];
  /** What clients see of what is served. */
  readonly serve?: ConfiguredServing;
  /** What clients may make while it is served. */
  readonly forge?: ConfiguredForge;
  /** Where the packages of scripts and Rust tools come from, and what installing them may use. */
  readonly packages?: PackageOptions;
}

/** Every option there is; the compiler keeps it in step with the type. */
const optionNames = Object.keys({
  model: true,
  prices: true,
  mcp: true,
  serve: true,
  forge: true,
  packages: true,
  tools: true,
  components: true,
  skills: true,
  runtimes: true,
  files: true,
  limits: true,
  rates: true,
  quotas: true,
  embedder: true,
  retries: true,
  breaker: true,
  keepFailed: true,
  injected: true,
  secrets: true,
  approve: true,
  localUser: true,
  scopesOf: true,
  guards: true,
  store: true,
  audit: true,
  redaction: true,
  telemetry: true,
} satisfies Record<keyof Configuration, true>);

const lists = ["tools", "components", "skills", "runtimes", "rates", "guards"];

/**
 * Reads the default export of a configuration or of a module: a tool, a list of tools, options, or a function that makes one
 * of these.
 *
 * @throws {KitbagError} `config-invalid` for anything else.
 */
export async function toWorkspaceOptions(exported: unknown, path: string): Promise<Configuration> {
  const value = typeof exported === "function" ? await callExport(exported as () => unknown, path) : exported;
  if (Array.isArray(value)) return { tools: value };
  if (typeof value !== "object" || value === null) throw wrongExport(path, value);
  if ("inputSchema" in value && "code" in value) return { tools: [value as never] };
  if (!isRecord(value)) throw wrongExport(path, value);
  checkNames(Object.keys(value), optionNames, path);
  for (const name of lists) checkList(name, (value as Record<string, unknown>)[name], path);
  const { model, prices } = value as { readonly model?: unknown; readonly prices?: unknown };
  checkModel(model, path);
  if (prices !== undefined) checkPrices(prices, path);
  return { ...(value as WorkspaceOptions), ...readParts(value, path) };
}

type PartName = "mcp" | "serve" | "forge" | "packages";

/** The options that are data wherever they are written. */
function readParts(value: object, path: string): Pick<Configuration, PartName> {
  const { mcp, serve, forge, packages } = value as { readonly [name in PartName]?: unknown };
  return {
    ...(mcp !== undefined && { mcp: readSources(mcp, path) }),
    ...(serve !== undefined && { serve: readServing(serve, path) }),
    ...(forge !== undefined && { forge: readForge(forge, path) }),
    ...(packages !== undefined && { packages: fromConfig(packages, path) }),
  };
}

/**
 * Finds the keys of data that count only where it is trusted: those that say which programs run, where prompts, keys and packages go
 * or come from, what tools of models may touch, or that loosen a limit.
 */
export function findGrants({ mcp = [], forge, packages, model = "local", limits = {} }: Configuration): string[] {
  return [
    ...(model === "local" ? [] : ["model"]),
    ...mcp.map(({ name }) => `mcp.${name}`),
    ...(forge === undefined ? [] : ["forge"]),
    ...(packages === undefined ? [] : ["packages"]),
    ...Object.entries(limits)
      .filter(loosens)
      .map(([name]) => `limits.${name}`),
  ];
}

/** A configuration that is data, without what counts only where it is trusted. */
export function withoutGrants(config: Configuration): Configuration {
  const { mcp: _, forge: __, packages: ___, model, limits = {}, ...rest } = config;
  const strict = Object.fromEntries(Object.entries(limits).filter((limit) => !loosens(limit)));
  return { ...rest, limits: strict, ...(model === "local" && { model }) };
}

/** Whether a limit lets more happen than the default does. */
function loosens([name, value]: readonly [name: string, value: unknown]): boolean {
  const usual = defaultLimits[name as keyof WorkspaceLimits];
  // An idempotency key that is forgotten earlier lets the same call happen twice.
  return typeof value === "number" && (name === "keyMs" ? value < usual : value > usual);
}

const dataNames = ["limits", "rates", "quotas", "model", "mcp", "serve", "forge", "packages"];

/**
 * Reads a configuration that is JSON. It can say only what data can say. Some of that needs trust, see {@link findGrants}.
 *
 * @throws {KitbagError} `config-invalid` for anything else.
 */
export function parseJsonConfig(text: string, path: string): Configuration {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/u, ""));
  } catch (cause) {
    throw new KitbagError("config-invalid", { path, reason: `it is not JSON: ${(cause as Error).message}` }, { cause });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrongExport(path, value);
  checkNames(Object.keys(value), dataNames, path);
  const { limits = {}, rates, quotas, model } = value as { readonly [name in keyof Configuration]?: unknown };
  checkModel(model, path);
  const named = typeof model === "string" ? { model } : {};
  const guards = { limits: readLimits(limits, path), ...readRates(rates, path), ...readQuotas(quotas, path) };
  return { ...guards, ...named, ...readParts(value, path) };
}

function readLimits(limits: unknown, path: string): Partial<WorkspaceLimits> {
  if (typeof limits !== "object" || limits === null || Array.isArray(limits)) {
    throw new KitbagError("config-invalid", { path, reason: `limits: expected an object, found ${showValue(limits)}` });
  }
  checkWith(toLimits, limits, path);
  return limits;
}

/** Rates only make less happen, so they need no trust. */
function readRates(rates: unknown, path: string): Pick<Configuration, "rates"> {
  if (rates === undefined) return {};
  if (!Array.isArray(rates) || !rates.every((rate) => isRecord(rate))) {
    const reason = `rates: expected a list of objects, found ${showValue(rates)}`;
    throw new KitbagError("config-invalid", { path, reason });
  }
  const list = rates as unknown as readonly RateLimit[];
  checkWith(checkRates, list, path);
  return { rates: list };
}

/** Quotas only make less happen, so they need no trust. */
function readQuotas(quotas: unknown, path: string): Pick<Configuration, "quotas"> {
  if (quotas === undefined) return {};
  checkWith(checkQuotas, quotas, path);
  return { quotas: quotas as QuotaOptions };
}

function checkWith<Value>(check: (value: Value) => unknown, value: Value, path: string): void {
  try {
    check(value);
  } catch (cause) {
    throw new KitbagError("config-invalid", { path, reason: (cause as Error).message }, { cause });
  }
}

async function callExport(make: () => unknown, path: string): Promise<unknown> {
  try {
    return await make();
  } catch (cause) {
    const reason = `its function failed: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new KitbagError("config-invalid", { path, reason }, { cause });
  }
}

function wrongExport(path: string, found: unknown): KitbagError {
  const reason = `expected a tool, a list of tools or options like { tools: [...] }, found ${showValue(found)}`;
  return new KitbagError("config-invalid", { path, reason });
}

function checkNames(names: readonly string[], known: readonly string[], path: string): void {
  for (const name of names) {
    if (known.includes(name)) continue;
    const cure = suggest(name, known, `use ${known.join(", ")}`);
    const why = optionNames.includes(name) ? "JSON cannot hold it; write a kitbag.config.ts" : cure;
    throw new KitbagError("config-invalid", { path, reason: `it cannot have ${quote(name)}; ${why}` });
  }
}

function checkModel(model: unknown, path: string): void {
  if (model === undefined || typeof model === "string") return;
  if (typeof model === "object" && model !== null && "doStream" in model && typeof model.doStream === "function")
    return;
  const reason = `model: expected a model or the name of one, found ${showValue(model)}`;
  throw new KitbagError("config-invalid", { path, reason });
}

function checkPrices(prices: unknown, path: string): void {
  try {
    if (!isRecord(prices)) throw new TypeError(`prices: expected an object, found ${showValue(prices)}`);
    createOwnPrices(prices as OwnPrices);
  } catch (cause) {
    throw new KitbagError("config-invalid", { path, reason: (cause as Error).message }, { cause });
  }
}

function checkList(name: string, value: unknown, path: string): void {
  if (value === undefined || (typeof value === "object" && value !== null && Symbol.iterator in value)) return;
  throw new KitbagError("config-invalid", { path, reason: `${name}: expected a list, found ${showValue(value)}` });
}

const schema = { type: "object", additionalProperties: configMcpSchema, maxProperties: 256 };

/**
 * Reads `mcp` of a configuration: other MCP servers, by name.
 *
 * @throws {KitbagError} `config-invalid` if something is wrong with one of them.
 */
function readSources(value: unknown, path: string): readonly McpSource[] {
  if (value === undefined) return [];
  const refuse = (reason: string): KitbagError => new KitbagError("config-invalid", { path, reason: `mcp: ${reason}` });
  const read = readData({ name: "mcp", value }, schema, path);
  return Object.entries(read as unknown as Record<string, McpServerEntry>).map(([name, listed]) => {
    const source = isName(name) && name !== "global" ? toMcpSource(name, listed) : `the name must be of ${nameRule}`;
    if (typeof source === "string") throw refuse(`${name}: ${source}`);
    return source;
  });
}

/** What a configuration says about serving. */
interface ConfiguredServing {
  /** What clients see: all the same, or each by what it calls itself. The first rule that fits decides. */
  readonly exposure?: McpExposure | readonly McpExposureRule[];
}

/** What a configuration says about the tools that clients make. */
interface ConfiguredForge {
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
function readServing(value: unknown, path: string): ConfiguredServing {
  // Which of the two is meant is told before it is checked: so that what is wrong with a rule is said, and not that it is no text.
  const isList = typeof value === "object" && value !== null && "exposure" in value && Array.isArray(value.exposure);
  return readData({ name: "serve", value }, closed({ exposure: isList ? rules : exposure }), path) as ConfiguredServing;
}

/**
 * Reads `forge` of a configuration.
 *
 * @throws {KitbagError} `config-invalid`
 */
function readForge(value: unknown, path: string): ConfiguredForge {
  return readData({ name: "forge", value }, closed({ policy }), path) as ConfiguredForge;
}

/**
 * Reads an option of a configuration that is data, also where the configuration is a program.
 *
 * @throws {KitbagError} `config-invalid` if it does not fit `schema`.
 */
function readData(
  option: { readonly name: string; readonly value: unknown },
  schema: JsonObject,
  path: string,
): JsonValue {
  const refuse = (reason: string): KitbagError =>
    new KitbagError("config-invalid", { path, reason: `${option.name}: ${reason}` });
  const copy = copyJson(option.value, { maxBytes: 1024 * 1024, maxDepth: 16 });
  if (!copy.ok) throw refuse(copy.reason === "not-json" ? describeProblem(copy.problem) : "it is too large");
  const [problem] = checkStrictly(schema, copy.value);
  if (problem !== undefined) throw refuse(describeProblem(problem));
  return copy.value;
}
