import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import type { Runtime, RuntimeContext } from "../core/runtime.ts";
import type { Tool } from "../core/tool.ts";
import { findSandbox, type FoundSandbox } from "../sandbox/find-sandbox.ts";
import { findGrants, findPlanted, type GrantPlaces } from "../sandbox/grants.ts";
import { noteShields, refuseReplaced, type FindReplaced } from "../sandbox/watch-shields.ts";
import { createReservedPlaces, type ReservedPlaces } from "../sandbox/reserved-places.ts";
import { createConnectionLog, type ConnectionLog } from "./connection-log.ts";
import type { Dependencies } from "../packages/install/create-dependencies.ts";
import { isNothingNeeded } from "../packages/install/dependency-request.ts";
import { toInstallOptions } from "../packages/install/package-options.ts";
import type { RuntimesOptions } from "./runtimes-options.ts";
import { permissionsIn } from "./files/mounted-files.ts";
import { type ScriptRuntime, scriptRuntime, type ScriptRuntimeOptions } from "./script/script-runtime.ts";
import type { WarmLauncher } from "./script/warm-launcher.ts";
import { createToolProfiles, type ToolProfiles } from "./tool-profiles.ts";
import type { WasmRuntime, WasmRuntimeOptions } from "./wasm/wasm-runtime.ts";

/** Runtimes that have their sandbox. */
export interface Started {
  readonly sandbox: FoundSandbox;
  /** What of this machine is Kitbag's own. */
  readonly places: GrantPlaces;
  readonly reserved: ReservedPlaces;
  /** Installs packages. */
  readonly dependencies: Dependencies;
  readonly script: Runtime;
  readonly wasm: Runtime;
  /** Makes ready what the first call of a script needs. */
  prepare(tool: Tool): Promise<void>;
  /** Whether what it has on disk is still there. */
  isWhole(): boolean;
  close(): Promise<void>;
}

/** Finds the sandbox and starts the runtimes. Loads all that they need, so it is loaded late itself. */
export async function startRuntimes(options: RuntimesOptions): Promise<Started> {
  const {
    directory = process.cwd(),
    home = join(homedir(), ".kitbag"),
    findSecret,
    onConnection,
    warm = true,
  } = options;
  const sandbox = await findSandbox(options.sandbox === undefined ? {} : { name: options.sandbox });
  const launcher = warm ? await openLauncher(sandbox) : undefined;
  const places = toPlaces(sandbox, { ...options, directory, home });
  const connections = createConnectionLog(onConnection);
  const dependencies = toDependencies(sandbox, { ...options, directory, home });
  const profiles = toProfiles({ sandbox, places, connections }, dependencies, options.limits);
  const secrets = findSecret === undefined ? {} : { findSecret };
  const wasm = lazyWasm({ sandbox, places, ...secrets, ...(onConnection !== undefined && { onConnection }) });
  const base = {
    sandbox,
    toProfile: (tool: Tool, context?: RuntimeContext) => profiles.find(tool, context),
    cache: join(home, "cache"),
    ...(options.debug !== undefined && { debug: { ...options.debug, directory: sandbox.area.private } }),
  };
  const { onLearned } = options;
  const script: Runtime & Partial<Pick<ScriptRuntime, "prepare">> =
    onLearned === undefined
      ? scriptRuntime({
          ...base,
          files: toFilePlaces(sandbox, places),
          ...(launcher !== undefined && { launcher }),
          ...secrets,
        })
      : (await import("./learn/learning-runtime.ts")).learningRuntime({ ...base, directory, onLearned });
  const reserved = createReservedPlaces(directory);
  const watched = { sandbox, places, reserved, connections, profiles };
  return {
    sandbox,
    places,
    reserved,
    dependencies,
    // What is only watched may write nothing.
    script: onLearned === undefined ? watch(script, watched) : script,
    wasm: watch(wasm, watched),
    prepare: async (tool) => (tool.code.kind === "script" ? script.prepare?.(tool) : undefined),
    isWhole: () => existsSync(sandbox.area.own),
    async close() {
      launcher?.close();
      await Promise.all([wasm.close(), profiles.close()]);
      await sandbox.close();
    },
  };
}

/** For one call nothing is kept ready, so what does that is not loaded. */
async function openLauncher(sandbox: FoundSandbox): Promise<WarmLauncher> {
  const { warmLauncher } = await import("./script/warm-launcher.ts");
  return warmLauncher(sandbox, { directory: sandbox.area.private });
}

/** Loads what runs modules at the first call of one: most processes call only scripts. */
function lazyWasm(options: WasmRuntimeOptions): WasmRuntime {
  let loading: Promise<WasmRuntime> | undefined;
  const load = (): Promise<WasmRuntime> =>
    (loading ??= import("./wasm/wasm-runtime.ts").then(({ wasmRuntime }) => wasmRuntime(options)));
  return {
    kind: "wasm",
    describe: () => ({ sandbox: options.sandbox.name }),
    run: async (tool, input, context) => (await load()).run(tool, input, context),
    close: async () => (await loading)?.close(),
  };
}

interface Watched {
  readonly sandbox: FoundSandbox;
  readonly places: GrantPlaces;
  readonly reserved: ReservedPlaces;
  readonly connections: ConnectionLog;
  readonly profiles: ToolProfiles;
}

/**
 * A call is told of its connections while it runs; one that made something at a shielded place has failed, whatever it answers, and so has
 * one that may have lost a shield.
 */
function watch(runtime: Runtime, { sandbox, places, reserved, connections, profiles }: Watched): Runtime {
  return {
    ...runtime,
    async run(tool, input, context) {
      const { name } = tool;
      const permissions = permissionsIn(context, tool);
      const grants = findGrants(name, permissions, places);
      const check = reserved.watch(name, grants.reserved, () => findPlanted(name, permissions, places, grants));
      const findReplaced = sandbox.mountsShields === true ? noteShields(grants.mounts) : () => undefined;
      const end = connections.begin(tool, context);
      try {
        return await runtime.run(tool, input, context);
      } finally {
        await end(profiles.settle);
        check();
        checkShields(findReplaced);
      }
    },
  };
}

/** Where folders are shown at their own places, the users that programs of root become must be able to pass. */
function toFilePlaces(
  { area, keepsPaths }: FoundSandbox,
  places: GrantPlaces,
): Required<ScriptRuntimeOptions>["files"] {
  return { places, directory: keepsPaths === true ? area.own : area.private, locks: area.kept };
}

function checkShields(findReplaced: FindReplaced): void {
  const path = findReplaced();
  if (path !== undefined) throw refuseReplaced(path);
}

type Placed = RuntimesOptions & Required<Pick<RuntimesOptions, "directory" | "home">>;

/** What is ours beside what has a name of ours: our home has secrets, the area has what other tools run. */
function toPlaces({ area }: FoundSandbox, { directory, home, fixed = [], hidden = [] }: Placed): GrantPlaces {
  return { directory, protected: [home, area.root], fixed, hidden };
}

interface Surroundings {
  readonly sandbox: FoundSandbox;
  readonly places: GrantPlaces;
  readonly connections: ConnectionLog;
}

function toProfiles(
  { sandbox, places, connections }: Surroundings,
  dependencies: Dependencies,
  limits: RuntimesOptions["limits"],
): ToolProfiles {
  return createToolProfiles({
    sandbox,
    dependencies,
    places,
    onConnection: connections.tell,
    ...(limits !== undefined && { limits }),
  });
}

/** Most scripts need no packages: what installs them is loaded for the first that does. */
function toDependencies(sandbox: FoundSandbox, { home, onInstall, ...options }: Placed): Dependencies {
  const load = async (): Promise<Dependencies> => {
    const { createDependencies } = await import("../packages/install/create-dependencies.ts");
    return createDependencies({
      ...{ sandbox, home, ...toInstallOptions(options) },
      ...(onInstall !== undefined && { onProgress: onInstall }),
    });
  };
  let loaded: Promise<Dependencies> | undefined;
  return {
    async prepare(request, signal) {
      if (isNothingNeeded(request)) return { mounts: [], environment: {} };
      return (await (loaded ??= load())).prepare(request, signal);
    },
  };
}
