import type { Runtime } from "../core/runtime.ts";
import type { EgressConnection } from "../sandbox/egress/ledger.ts";
import type { FoundSandbox } from "../sandbox/find-sandbox.ts";
import type { Limits, SandboxName } from "../sandbox/sandbox.ts";
import type { DependencyProgress } from "./dependencies/dependency-request.ts";
import type { Started } from "./start-runtimes.ts";
import type { FindSecret } from "./script/load-secrets.ts";

/** How scripts and WASM modules run. */
export interface RuntimesOptions {
  /** Which sandbox; `off` is none at all. @default the best that works on this machine */
  readonly sandbox?: SandboxName;
  /** What `./` in permissions is. @default the working directory */
  readonly directory?: string;
  /** Where packages and caches are kept. @default `~/.kitbag` */
  readonly home?: string;
  /** Values for the names in a tool's permission `env`. @default none */
  readonly findSecret?: FindSecret;
  /** Whether interpreters are kept ready for the next call. @default true */
  readonly warm?: boolean;
  /** What a tool may use of the machine, where it shall differ from the usual. */
  readonly limits?: Partial<Limits>;
  /** Use only packages that are installed already. @default false */
  readonly offline?: boolean;
  /** A folder of wheels and npm tarballs to install from, instead of the package index. */
  readonly wheelhouse?: string;
  /** Told when a connection of a tool ended or was refused. */
  readonly onConnection?: (connection: EgressConnection & { readonly tool: string }) => void;
  /** Told what is being installed. */
  readonly onInstall?: (progress: DependencyProgress) => void;
}

/** Runtimes for code that must not run in this process. */
export interface Runtimes extends Iterable<Runtime> {
  /** The sandbox they use; it is looked for when it is first needed. */
  findSandbox(): Promise<FoundSandbox>;
  /** Ends everything that runs or waits. */
  close(): Promise<void>;
}

/**
 * Makes the runtimes for scripts and WASM modules. Nothing is started or loaded before the first call that needs it.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { openRuntimes } from "kitbag/runtimes";
 *
 * const runtimes = openRuntimes({ directory: process.cwd() });
 * const workspace = createWorkspace({ runtimes });
 * await runtimes.close();
 * console.assert(workspace.listTools().length === 0);
 * ```
 */
export function openRuntimes(options: RuntimesOptions = {}): Runtimes {
  let started: Promise<Started> | undefined;
  const start = (): Promise<Started> =>
    (started ??= import("./start-runtimes.ts").then(({ startRuntimes }) => startRuntimes(options)));
  const lazy = (kind: "script" | "wasm"): Runtime => ({
    kind,
    run: async (tool, input, context) => (await start())[kind].run(tool, input, context),
  });
  return {
    [Symbol.iterator]: () => [lazy("script"), lazy("wasm")][Symbol.iterator](),
    findSandbox: async () => (await start()).sandbox,
    async close() {
      const closing = started;
      started = undefined;
      // One that could not start has nothing to close.
      await (await closing?.catch(() => undefined))?.close();
    },
  };
}
