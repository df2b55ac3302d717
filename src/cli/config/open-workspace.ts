import { realpathSync } from "node:fs";
import { registerHooks } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import type { McpSource } from "../../core/mcp-source.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { Model } from "../../models/model.ts";
import { toDigest } from "../../platform/digest.ts";
import { describeLoadError } from "../../skills/modules/describe-load-error.ts";
import { isGuarded } from "../../skills/modules/guard-folder.ts";
import { offerOwnPackage } from "../../skills/modules/own-package.ts";
import { isProjectFile, loadBytes } from "../../skills/modules/project-files.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import type { Digests } from "../../skills/trust/trust-format.ts";
import type { Workspace, WorkspaceOptions } from "../../workspace/workspace.ts";
import { type CliContext, usageError } from "../cli-command.ts";
import type { CliRuntimes } from "../sandbox/open-cli-runtimes.ts";
import { followMove } from "../store/known-stores.ts";
import { checkTrust, requireTrust } from "./require-trust.ts";
import { findConfig, resolveFile } from "./find-config.ts";
import {
  type Configuration,
  findGrants,
  parseJsonConfig,
  toWorkspaceOptions,
  withoutGrants,
} from "./to-workspace-options.ts";

/** A workspace, and the options that made it. */
export interface OpenWorkspace {
  readonly workspace: Workspace;
  readonly options: WorkspaceOptions;
  /** The model that the configuration names for agents. */
  readonly model?: Model | string;
  readonly prices?: Configuration["prices"];
  /** The other MCP servers that the configuration names; their tools are not added yet. */
  readonly mcp: readonly McpSource[];
  /** What the configuration says for `kitbag serve` alone. */
  readonly serve?: Configuration["serve"];
  readonly forge?: Configuration["forge"];
}

/** What a command brings to the workspace that it opens. */
export interface Additions {
  /** Where scripts and modules run; told what is configured about packages before they are used. @default they do not */
  readonly runtimes?: Iterable<Runtime> & Partial<Pick<CliRuntimes, "usePackages">>;
  /** Adds what is not configured, such as a store. @default nothing is added */
  readonly complete?: (options: WorkspaceOptions) => Promise<WorkspaceOptions>;
}

/**
 * Makes the workspace of a command: of `module` if the person named one, else of the configuration of the working directory.
 * Naming a file on the command line is consent to run it; a configuration that is merely found must be trusted, or be only
 * data.
 *
 * @throws {KitbagError} `config-missing`, `config-invalid` or `config-untrusted` if no configuration may be used.
 */
export async function openWorkspace(
  context: CliContext,
  module: string | undefined,
  additions: Additions = {},
): Promise<OpenWorkspace> {
  await followMove(context);
  const config = findConfig(context.cwd);
  const path = module === undefined ? config : resolveModule(resolve(context.cwd, module));
  if (path === undefined) throw new KitbagError("config-missing", { path: "kitbag.config.ts" });
  const options = module === undefined ? await loadConfig(path, context) : await loadNamed(path, config);
  return createConfigured(options, additions, path);
}

/** A command that opens no store calls no tools. */
async function withoutQuotas(options: WorkspaceOptions): Promise<WorkspaceOptions> {
  const { quotas: ignored, ...others } = options;
  void ignored;
  return others;
}

const noRuntimes: NonNullable<Additions["runtimes"]> = [];

/**
 * Makes a workspace of what was configured, in the file `path`, and what the command brings.
 *
 * @throws {KitbagError} `config-invalid` if the options are wrong; whatever `complete` throws.
 */
export async function createConfigured(
  { model, prices, mcp = [], serve, forge, packages, ...configured }: Configuration,
  { runtimes = noRuntimes, complete = withoutQuotas }: Additions,
  path: string,
): Promise<OpenWorkspace> {
  const options = await complete(configured);
  if (packages !== undefined) runtimes.usePackages?.(packages);
  const { createWorkspace } = await import("../../workspace/create-workspace.ts");
  try {
    // What the configuration brings goes before what is there anyway.
    const all = [...runtimes, ...(options.runtimes ?? [])];
    const workspace = createWorkspace({ ...options, runtimes: all });
    await workspace.quotas.refresh();
    return {
      workspace,
      options,
      mcp,
      ...(model !== undefined && { model }),
      ...(prices !== undefined && { prices }),
      ...(serve !== undefined && { serve }),
      ...(forge !== undefined && { forge }),
    };
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    throw new KitbagError("config-invalid", { path, reason: cause.message }, { cause });
  }
}

/**
 * The options of the configuration of the working directory, if it may run already; no question is asked. What was never trusted never
 * ran, so it has nothing to say.
 *
 * @throws {KitbagError} `config-invalid`
 */
export async function loadTrustedOptions({ cwd, env }: Pick<CliContext, "cwd" | "env">): Promise<Configuration> {
  await followMove({ cwd, env });
  const path = findConfig(cwd);
  if (path === undefined) return {};
  const home = resolveKitbagHome(env);
  if (path.endsWith(".json")) {
    const { config, digest } = loadJsonConfig(path);
    if (findGrants(config).length === 0) return config;
    const { status, files } = checkTrust(path, home);
    return status === "trusted" && files.get(path) === digest ? config : withoutGrants(config);
  }
  const { status, files } = checkTrust(path, home);
  return status === "trusted" ? toWorkspaceOptions(await loadModule(path, files), path) : {};
}

function resolveModule(path: string): string {
  if (/\.[cm]?[jt]s$/u.test(path)) return resolveFile(path);
  throw usageError(`Cannot use --module ${path}: a module ends in .ts, .mts, .js or .mjs`);
}

async function loadConfig(path: string, context: CliContext): Promise<Configuration> {
  const home = resolveKitbagHome(context.env);
  if (path.endsWith(".json")) {
    const { config, digest } = loadJsonConfig(path);
    const keys = findGrants(config);
    if (keys.length === 0) return config;
    const digests = await requireTrust(path, home, context.terminal, keys);
    if (digests.get(path) === digest) return config;
    throw new KitbagError("config-untrusted", { path, changed: [path], keys });
  }
  const digests = await requireTrust(path, home, context.terminal);
  return toWorkspaceOptions(await loadModule(path, digests), path);
}

/** The stricter limits of a configuration that is only data hold for a named module too; what the module says goes before them. */
async function loadNamed(path: string, config: string | undefined): Promise<Configuration> {
  const base = config?.endsWith(".json") === true ? withoutGrants(loadJsonConfig(config).config) : {};
  const options = await toWorkspaceOptions(await loadModule(path), path);
  return { ...base, ...options, limits: { ...base.limits, ...options.limits } };
}

/** What a configuration that is data says, and the digest of exactly the bytes that say it. @throws {KitbagError} `config-invalid` */
export function loadJsonConfig(path: string): { readonly config: Configuration; readonly digest: string } {
  const bytes = loadBytes(path);
  return { config: parseJsonConfig(bytes.toString("utf8"), path), digest: toDigest(bytes) };
}

/**
 * Loads a module of a project and answers with its default export. With `digests`, every project file that is loaded,
 * now or later, must have its digest, and the bytes that were digested are the bytes that run.
 *
 * @throws {KitbagError} `config-untrusted` for a file with other bytes; `config-invalid` if the module cannot be loaded, throws
 *   or exports nothing.
 */
async function loadModule(path: string, digests?: Digests): Promise<unknown> {
  // The hooks stay: a tool may import more when it is called.
  if (digests !== undefined) guardLoading(path, digests);
  offerOwnPackage();
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(path).href)) as typeof module;
  } catch (cause) {
    if (isKitbagError(cause, "config-untrusted") || isKitbagError(cause, "config-invalid")) throw cause;
    throw new KitbagError(
      "config-invalid",
      { path, reason: `loading it failed: ${describeLoadError(cause)}` },
      { cause },
    );
  }
  if (module.default !== undefined) return module.default;
  throw new KitbagError("config-invalid", { path, reason: "it has no default export; write: export default …" });
}

function guardLoading(config: string, digests: Digests): void {
  registerHooks({
    load(url, context, nextLoad) {
      // The code of a skill was trusted with its skill, and is checked there.
      if (!url.startsWith("file:") || isGuarded(url)) return nextLoad(url, context);
      const path = realpathSync.native(fileURLToPath(url));
      if (!isProjectFile(path)) return nextLoad(url, context);
      const bytes = checkedBytes(path, config, digests);
      const loaded = nextLoad(url, context);
      return { ...loaded, source: typeof loaded.source === "string" ? bytes.toString("utf8") : bytes };
    },
  });
}

function checkedBytes(path: string, config: string, digests: Digests): Buffer {
  const trusted = digests.get(path);
  if (trusted === undefined || path.endsWith(".node")) {
    const reason = `it loads ${path}, which "kitbag trust" cannot cover; import it by a path that is written out`;
    throw new KitbagError("config-invalid", { path: config, reason });
  }
  const bytes = loadBytes(path);
  if (toDigest(bytes) === trusted) return bytes;
  throw new KitbagError("config-untrusted", { path: config, changed: [path] });
}
