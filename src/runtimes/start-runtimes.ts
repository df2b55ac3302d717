import { homedir } from "node:os";
import { join } from "node:path";

import type { Runtime, RuntimeContext } from "../core/runtime.ts";
import type { Tool } from "../core/tool.ts";
import { findSandbox, type FoundSandbox } from "../sandbox/find-sandbox.ts";
import type { GrantPlaces } from "../sandbox/grants.ts";
import { createDependencies, type Dependencies } from "./dependencies/create-dependencies.ts";
import { learningRuntime } from "./learn/learning-runtime.ts";
import type { RuntimesOptions } from "./runtimes-options.ts";
import { scriptRuntime } from "./script/script-runtime.ts";
import { warmLauncher } from "./script/warm-launcher.ts";
import { createToolProfiles, type ToolProfiles } from "./tool-profiles.ts";
import { wasmRuntime } from "./wasm/wasm-runtime.ts";

/** Runtimes that have their sandbox. */
export interface Started {
  readonly sandbox: FoundSandbox;
  /** What of this machine is Kitbag's own. */
  readonly places: GrantPlaces;
  readonly script: Runtime;
  readonly wasm: Runtime;
  close(): Promise<void>;
}

/** Finds the sandbox and starts the runtimes. Loads all that they need, so it is loaded late itself. */
export async function startRuntimes(options: RuntimesOptions): Promise<Started> {
  const { directory = process.cwd(), home = join(homedir(), ".kitbag"), findSecret, warm = true } = options;
  const sandbox = await findSandbox(options.sandbox === undefined ? {} : { name: options.sandbox });
  const launcher = warm ? warmLauncher(sandbox, { directory: sandbox.area.private }) : undefined;
  const places = toPlaces(sandbox, { ...options, directory, home });
  const profiles = toProfiles(sandbox, places, { ...options, directory, home });
  const secrets = findSecret === undefined ? {} : { findSecret };
  const wasm = wasmRuntime({ sandbox, ...places, ...secrets });
  const base = {
    sandbox,
    toProfile: (tool: Tool, context: RuntimeContext) => profiles.find(tool, context.signal),
    cache: join(home, "cache"),
    ...(options.debug !== undefined && { debug: { ...options.debug, directory: sandbox.area.private } }),
  };
  const { onLearned } = options;
  const script =
    onLearned === undefined
      ? scriptRuntime({ ...base, ...(launcher !== undefined && { launcher }), ...secrets })
      : learningRuntime({ ...base, directory, onLearned });
  return {
    sandbox,
    places,
    script,
    wasm,
    async close() {
      launcher?.close();
      await Promise.all([wasm.close(), profiles.close()]);
      await sandbox.close();
    },
  };
}

type Placed = RuntimesOptions & Required<Pick<RuntimesOptions, "directory" | "home">>;

/** What is ours: our home has secrets, the area has what other tools run, and the lock says what was granted. */
function toPlaces({ area }: FoundSandbox, { directory, home, fixed = [], hidden = [] }: Placed) {
  const own = ownNames.map((name) => join(directory, name));
  return { directory, protected: [home, area.root], fixed: [...own, ...fixed], hidden } satisfies GrantPlaces;
}

const ownNames = ["kitbag.lock", ".kitbag", ...["ts", "mts", "js", "mjs", "json"].map((end) => `kitbag.config.${end}`)];

function toProfiles(sandbox: FoundSandbox, places: GrantPlaces, options: Placed): ToolProfiles {
  const { limits, onConnection } = options;
  return createToolProfiles({
    sandbox,
    dependencies: toDependencies(sandbox, options),
    places,
    ...(limits !== undefined && { limits }),
    ...(onConnection !== undefined && { onConnection }),
  });
}

function toDependencies(sandbox: FoundSandbox, options: Placed): Dependencies {
  const { home, offline, wheelhouse, index, allowInstallScripts, onInstall } = options;
  return createDependencies({
    sandbox,
    home,
    ...(offline !== undefined && { offline }),
    ...(wheelhouse !== undefined && { wheelhouse }),
    ...(index !== undefined && { index }),
    ...(allowInstallScripts !== undefined && { allowInstallScripts }),
    ...(onInstall !== undefined && { onProgress: onInstall }),
  });
}
