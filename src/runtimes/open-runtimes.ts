/**
 * Where tools run: functions of this process, scripts, WASM modules, pipelines, programs of models and tools of other MCP servers.
 * This folder may import `packages`, `sandbox`, `platform` and `core`; programs in folders named `inside` import only node: modules and
 * each other. Start reading here and in `start-runtimes.ts`; `pipeline/` and `code/` stand on their own.
 */
import { checkPackageOptions } from "../packages/install/package-options.ts";
import type { RuntimesOptions } from "./runtimes-options.ts";
import type { Runtime } from "../core/runtime.ts";
import type { Tool } from "../core/tool.ts";
import type { FoundSandbox } from "../sandbox/find-sandbox.ts";
import type { McpRuntime } from "./mcp/mcp-runtime.ts";
import type { Started } from "./start-runtimes.ts";

/** Runtimes for code that must not run in this process. */
export interface Runtimes extends Iterable<Runtime> {
  /** The sandbox they use; it is looked for when it is first needed. */
  findSandbox(): Promise<FoundSandbox>;
  /** The connections to other MCP servers; none is made before it is needed. */
  openMcp(): Promise<McpRuntime>;
  /**
   * Gets ready for the first calls of these tools: finds the sandbox, and has interpreters wait for their scripts. Nothing of a tool runs.
   * For a program that knows that calls will come, while it waits for something else. What cannot be made ready is left to the call.
   */
  prepare(tools: Iterable<Tool>): Promise<void>;
  /** Ends everything that runs or waits. */
  close(): Promise<void>;
}

/**
 * Makes the runtimes for scripts, WASM modules and tools of other MCP servers. Each starts with the first call that needs it.
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
  let current: Part | undefined;
  const begin = (): Part => (current ??= { running: 0, started: load(options) });
  /** The part that can be used: a cleaner of temporary files may have taken the folder of the one that was started. */
  const open = async (): Promise<Part> => {
    const part = begin();
    if ((await part.started).isWhole()) return part;
    if (current === part) current = undefined;
    return begin();
  };
  const use = async <Value>(work: (started: Started) => Value | Promise<Value>): Promise<Value> => {
    const part = await open();
    part.running += 1;
    try {
      return await work(await part.started);
    } finally {
      part.running -= 1;
      if (part !== current && part.running === 0) void part.started.then((started) => started.close());
    }
  };
  const start = async (): Promise<Started> => (await open()).started;
  const lazy = (kind: "script" | "wasm"): Runtime => ({
    kind,
    run: (tool, input, context) => use((started) => started[kind].run(tool, input, context)),
    describe: async () => ({ sandbox: (await start()).sandbox.name }),
    // Learning grants nothing, so nothing is looked for.
    ...(kind === "script" && options.onLearned === undefined && { findFiles: lazyFindFiles(start) }),
  });
  let connected: Promise<McpRuntime> | undefined;
  const openMcp = (): Promise<McpRuntime> =>
    (connected ??= import("./mcp/mcp-runtime.ts").then(({ startMcp }) => startMcp(options, start)));
  const mcp: Runtime = {
    kind: "mcp",
    run: async (tool, input, context) => (await openMcp()).run(tool, input, context),
    describe: async (tool) => (await openMcp()).describe(tool),
  };
  return {
    [Symbol.iterator]: () => [lazy("script"), lazy("wasm"), mcp][Symbol.iterator](),
    findSandbox: async () => (await start()).sandbox,
    openMcp,
    prepare: async (tools) => use((started) => prepareAll(started, tools)).catch(() => undefined),
    async close() {
      const [closing, leaving] = [current, connected];
      current = connected = undefined;
      await (await leaving?.catch(() => undefined))?.close();
      // One that could not start has nothing to close.
      await (await closing?.started.catch(() => undefined))?.close();
    },
  };
}

/** One after the other: the machine has other work. */
async function prepareAll({ prepare }: Started, tools: Iterable<Tool>): Promise<void> {
  for (const tool of tools) await prepare(tool).catch(() => undefined);
}

function lazyFindFiles(start: () => Promise<Started>): Required<Runtime>["findFiles"] {
  return async (tool, input, by) => (await (await start()).script.findFiles?.(tool, input, by)) ?? [];
}

/** Runtimes that were started, and how many calls use them. */
interface Part {
  running: number;
  readonly started: Promise<Started>;
}

function load(options: RuntimesOptions): Promise<Started> {
  return import("./start-runtimes.ts").then(({ startRuntimes }) => startRuntimes(options));
}
