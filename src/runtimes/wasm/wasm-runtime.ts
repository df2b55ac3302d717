import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { WasmCode } from "../../core/script-code.ts";
import type { Tool } from "../../core/tool.ts";
import { toDigest } from "../../platform/digest.ts";
import type { GrantPlaces } from "../../sandbox/grants.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { OnConnection } from "../connection-log.ts";
import { parseExactly, parseOutput, withoutLineEnd } from "../parse-exactly.ts";
import { type FindSecret, loadSecrets, type Secrets } from "../script/load-secrets.ts";
import { createLineLog, createTail } from "../script/output/read-output.ts";
import { createHosts } from "./find-hosts.ts";
import { HostGone, type HostResult } from "./host-connection.ts";
import { createHostFunctions } from "./host-functions.ts";
import type { CallLimits } from "./inside/wire/messages.ts";

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
  /** How long an unused host is kept. @default 60000 */
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
      const { show } = secrets;
      const lines = createLineLog((line) => context.log(secrets.showMessage(line)));
      const tail = createTail(4 * longestTail);
      const call = {
        digest: code.digest,
        // A module with several tools is told which one is called beside the input, so that a second tool changes nothing for the first.
        args: [code.tool ?? tool.name],
        environment: { ...secrets.values, KITBAG_TOOL: code.tool ?? tool.name },
        input: Buffer.from(JSON.stringify(input)),
        onStderr(bytes: Uint8Array) {
          lines.push(bytes);
          tail.push(bytes);
        },
        onAsk: createHostFunctions({ tool, context, secrets, onConnection, maxBytes: limits.outputBytes }),
        loadModule: () => readModule(code),
      };
      const result = await host.call(call, context.signal).catch((cause: unknown) => toEnd(cause, sandbox));
      lines.end();
      context.signal.throwIfAborted();
      const stderr = show(tail.bytes().toString("utf8").slice(-longestTail).trim());
      return show(toResult(tool, { ...result, stderr, limits, show }));
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

/**
 * Reads a tool's module, whose bytes must be those that were hashed.
 *
 * @throws {KitbagError} `script-changed` if they are not, or if the file is gone.
 */
async function readModule({ directory, path, digest }: WasmCode): Promise<Uint8Array> {
  const file = join(directory, path);
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new KitbagError("script-changed", { path: file }, { cause });
  });
  if (toDigest(bytes) !== digest) throw new KitbagError("script-changed", { path: file });
  return bytes;
}

/** How much of what a module wrote to standard error is told with its failure, in characters. */
const longestTail = 2000;

/** What is known when a call is over. */
interface Ended extends HostResult {
  /** The last of what it wrote to standard error. */
  readonly stderr: string;
  readonly limits: CallLimits;
  /** Takes secrets out of whatever is shown. */
  readonly show: Secrets["show"];
}

/**
 * Makes the output of a tool of what its module printed: JSON is what it says, any other text, and JSON with a whole number that
 * cannot be kept exactly, is the text itself, unless the tool declares what its output is.
 *
 * @throws {KitbagError} for every other end than with exit code 0.
 */
function toResult(tool: Tool, ended: Ended): unknown {
  const { name } = tool;
  const { end, stderr, limits } = ended;
  const fail = (reason: string): KitbagError => new KitbagError("tool-failed", { tool: name, reason });
  switch (end.kind) {
    case "exit":
      if (end.code !== 0) throw new KitbagError("script-failed", { tool: name, code: end.code, stderr });
      return toOutput(tool, ended);
    case "trap":
      // A module that gets no more memory traps by itself, in its own way; how much it had tells why.
      if (end.memoryBytes >= 0.9 * limits.memoryBytes) {
        throw new KitbagError("memory-exceeded", { tool: name, limitBytes: limits.memoryBytes });
      }
      throw fail(`the module trapped: ${end.reason}${stderr === "" ? "" : `: ${stderr}`}`);
    case "refused":
      throw fail(`the module cannot run here: ${end.reason}`);
    case "flooded":
      throw new KitbagError("output-flooded", { tool: name, limitBytes: limits.outputBytes });
    case "cpu":
      throw fail(`it used more than ${limits.cpuMs} ms of CPU time; give it less to do, or raise its limit`);
    case "memory":
      throw new KitbagError("memory-exceeded", { tool: name, limitBytes: limits.memoryBytes });
    case "cancelled":
      throw fail("it was stopped");
    case "crashed":
      throw fail(`the thread of the module failed: ${end.reason}`);
  }
}

function toOutput(tool: Tool, { output, show }: Pick<Ended, "output" | "show">): unknown {
  const text = Buffer.from(output.buffer, output.byteOffset, output.length).toString("utf8");
  if (tool.outputSchema !== undefined) return parseOutput(tool, text, show);
  try {
    const { value, inexact } = parseExactly(text);
    return inexact === undefined ? value : withoutLineEnd(text);
  } catch {
    return withoutLineEnd(text);
  }
}
