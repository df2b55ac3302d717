import { checkPackageOptions } from "./dependencies/package-options.ts";
import type { RuntimesOptions } from "./runtimes-options.ts";
import type { Runtime } from "../core/runtime.ts";
import type { FoundSandbox } from "../sandbox/find-sandbox.ts";
import type { McpRuntime } from "./mcp/mcp-runtime.ts";
import type { Started } from "./start-runtimes.ts";

/** Runtimes for code that must not run in this process. */
export interface Runtimes extends Iterable<Runtime> {
  /** The sandbox they use; it is looked for when it is first needed. */
  findSandbox(): Promise<FoundSandbox>;
  /** The connections to other MCP servers; none is made before it is needed. */
  openMcp(): Promise<McpRuntime>;
  /** Ends everything that runs or waits. */
  close(): Promise<void>;
}

/**
 * Makes the runtimes for scripts, WASM modules and tools of other MCP servers. Nothing is started or loaded before the first call that needs it.
 *
 * @throws {KitbagError} `option-invalid` if what is said about packages is wrong: a `wheelhouse` that does not exist, an index that is
 *   no address.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { openRuntimes } from "kitbag/runtimes";
 * import { loadSkills } from "kitbag/skills";
 *
 * const runtimes = openRuntimes({ directory: process.cwd() });
 * const { reports } = await loadSkills({ directories: ["skills/checksums"] });
 * const workspace = createWorkspace({ skills: reports.flatMap(({ skill }) => skill ?? []), runtimes });
 * await workspace.activateSkill("checksums");
 * // Now `workspace.call("checksums/…", input)` runs the skill's scripts in the sandbox.
 * await runtimes.close();
 * ```
 */
export function openRuntimes(options: RuntimesOptions = {}): Runtimes {
  checkPackageOptions({ ...options });
  let started: Promise<Started> | undefined;
  const start = (): Promise<Started> =>
    (started ??= import("./start-runtimes.ts").then(({ startRuntimes }) => startRuntimes(options)));
  const lazy = (kind: "script" | "wasm"): Runtime => ({
    kind,
    run: async (tool, input, context) => (await start())[kind].run(tool, input, context),
    describe: async () => ({ sandbox: (await start()).sandbox.name }),
  });
  let connected: Promise<McpRuntime> | undefined;
  const openMcp = (): Promise<McpRuntime> =>
    (connected ??= import("./mcp/start-mcp.ts").then(({ startMcp }) => startMcp(options, start)));
  const mcp: Runtime = {
    kind: "mcp",
    run: async (tool, input, context) => (await openMcp()).run(tool, input, context),
    describe: async (tool) => (await openMcp()).describe(tool),
  };
  return {
    [Symbol.iterator]: () => [lazy("script"), lazy("wasm"), mcp][Symbol.iterator](),
    findSandbox: async () => (await start()).sandbox,
    openMcp,
    async close() {
      const [closing, leaving] = [started, connected];
      started = connected = undefined;
      await (await leaving?.catch(() => undefined))?.close();
      // One that could not start has nothing to close.
      await (await closing?.catch(() => undefined))?.close();
    },
  };
}
