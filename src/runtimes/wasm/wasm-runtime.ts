import { availableParallelism } from "node:os";

import { KitbagError } from "../../core/errors.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { WasmCode } from "../../core/script-code.ts";
import type { GrantPlaces } from "../../sandbox/grants.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { OnConnection } from "../connection-log.ts";
import { loadSecrets, type FindSecret } from "../script/load-secrets.ts";
import { createErrorLog } from "./error-log.ts";
import { createHosts } from "./find-hosts.ts";
import { HostGone, type HostResult } from "./host-connection.ts";
import { answerRequest } from "./host-functions.ts";
import type { CallLimits } from "./inside/wire/messages.ts";
import { readModule } from "./read-module.ts";
import { toResult } from "./to-result.ts";

const mebibyte = 1024 * 1024;

/** How WASM tools run. */
export interface WasmRuntimeOptions {
  /** Where the modules run; see `findSandbox`. */
  readonly sandbox: Sandbox;
  /** How many calls of one skill and user run at once. @default one for each processor, at most 4 */
  readonly workers?: number;
  /** What a module's memory may grow to. @default 128 MiB */
  readonly maxMemoryBytes?: number;
  /** CPU time of one call. @default 60000 */
  readonly maxCpuMs?: number;
  /** All that a call prints and asks for. @default 16 MiB */
  readonly maxOutputBytes?: number;
  /** How long a host is kept that nobody uses. @default 60000 */
  readonly idleMs?: number;
  /** Where the paths of permissions lead. @default `./` is the working directory */
  readonly places?: GrantPlaces;
  /** Values for the names in a tool's permission `env`. @default none */
  readonly findSecret?: FindSecret;
  /** Told when a connection of a tool ended or was refused. */
  readonly onConnection?: OnConnection;
}

/** A runtime for WASM tools. */
export interface WasmRuntime extends Runtime {
  /** Ends all hosts; a later call starts them again. */
  close(): Promise<void>;
}

/** The largest file that a module may write. */
const fileBytes = 64 * mebibyte;

/**
 * Runs tools that are WASI command modules: the input is JSON on standard input, the output is what they print. They run in
 * threads of a Node that is itself in the sandbox, each call in a new instance. A module reaches nothing but the files below the
 * directories that the tool may read or write, and what `kitbag.call` gives it.
 *
 * **Contract**: nothing is started before the first call. A call that must stop is ended with its thread. A host that died is
 * started again for the next call, one that is not used is ended, and none keeps this process from ending.
 */
export function wasmRuntime(options: WasmRuntimeOptions): WasmRuntime {
  const { sandbox, findSecret = () => undefined, idleMs = 60_000, onConnection } = options;
  const limits = toLimits(options);
  const hosts = createHosts({
    sandbox,
    places: options.places ?? { directory: process.cwd() },
    idleMs,
    workers: options.workers ?? Math.min(4, availableParallelism()),
    limits,
  });

  return {
    kind: "wasm",
    describe: () => ({ sandbox: sandbox.name }),
    async run(tool, input, context) {
      const code = tool.code as WasmCode;
      const host = hosts.find(tool, context.user);
      const secrets = await loadSecrets(tool, findSecret);
      const errors = createErrorLog((line) => context.log(secrets.show(line)));
      const call = {
        digest: code.digest,
        args: [tool.name],
        environment: secrets.values,
        input: Buffer.from(JSON.stringify(code.tool === undefined ? input : { tool: code.tool, input })),
        onStderr: errors.write,
        onAsk: (request: Uint8Array) =>
          answerRequest(request, { tool, context, onConnection, maxBytes: limits.outputBytes }),
        loadModule: () => readModule(code),
      };
      const result = await host.call(call, context.signal).catch((cause: unknown) => toEnd(cause, sandbox));
      context.signal.throwIfAborted();
      return secrets.show(toResult(tool, { ...result, stderr: secrets.show(errors.end()), limits }));
    },
    close: () => hosts.close(),
  };
}

function toLimits({ maxMemoryBytes, maxCpuMs, maxOutputBytes }: WasmRuntimeOptions): CallLimits {
  return {
    memoryBytes: maxMemoryBytes ?? 128 * mebibyte,
    cpuMs: maxCpuMs ?? 60_000,
    outputBytes: maxOutputBytes ?? 16 * mebibyte,
    fileBytes,
  };
}

/** How a call ended whose host is gone. */
function toEnd(cause: unknown, { name }: Sandbox): HostResult {
  if (!(cause instanceof HostGone)) throw cause;
  const { outOfMemory, reason: ended } = cause.hostEnd;
  if (outOfMemory && cause.otherCalls === 0) return { end: { kind: "memory" }, output: new Uint8Array(0) };
  const others = `${cause.otherCalls} other calls of this user and skill ran in it; this one was not made again, because it may have changed something`;
  const reason = outOfMemory ? `${ended}; ${others}` : ended;
  throw new KitbagError("sandbox-failed", { sandbox: name, reason }, { cause });
}
