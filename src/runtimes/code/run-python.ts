import { join } from "node:path";
import type { Duplex, Readable } from "node:stream";

import { KitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import { findProgram } from "../../sandbox/programs.ts";
import { defaultLimits, describeExit, type ExitStatus, type Profile, type Sandbox } from "../../sandbox/sandbox.ts";
import { serveRpc, type RpcLimits } from "../script/rpc/serve-rpc.ts";
import type { CodeLimits, ProgramSession } from "./program-session.ts";
import type { ProgramEnd } from "./inside/program/messages.ts";
import type { ToolNames } from "./render-tool-declarations.ts";

/** One Python program. */
export interface PythonProgram {
  readonly tool: string;
  readonly code: string;
  readonly session: ProgramSession;
  readonly sandbox: Sandbox | undefined;
  readonly limits: CodeLimits;
  readonly names: ToolNames;
}

const ownFolder = join(import.meta.dirname, "inside");
const ownTarget = "/opt/kitbag/code";
/** How the system ends a program that computes too long, and what a shell makes of it. */
const killers = new Set(["SIGXCPU", "SIGKILL"]);
const killerCodes = new Set([128 + 24, 128 + 9]);
const leastMemory = 256 * 1024 * 1024;
/** How long a program that said how it ended may take to go. */
const graceMs = 2000;

/**
 * Runs a Python program in the sandbox to its end, which has nothing there but the interpreter, its standard library and its
 * tools.
 *
 * @throws {KitbagError} `option-invalid` if there is no sandbox; `interpreter-missing` if there is no Python.
 */
export async function runPython(program: PythonProgram, signal: AbortSignal): Promise<ProgramEnd> {
  const { tool, code, session, sandbox, limits, names } = program;
  if (sandbox === undefined) {
    const expected = "a sandbox for the code runtime, because Python programs run in one";
    throw new KitbagError("option-invalid", { option: "sandbox", found: "nothing", expected });
  }
  if (findProgram("python3") === undefined) {
    const cure = "install python3, or write the program in JavaScript";
    throw new KitbagError("interpreter-missing", { tool, interpreter: "python3", cure });
  }
  signal.throwIfAborted();
  const command = ["python3", "-I", "-S", "-B", "-X", "utf8", `${ownTarget}/run.py`];
  const start = JSON.stringify({ source: code, aliases: names.aliases, cpuMs: limits.cpuMs });
  const startedAt = performance.now();
  const running = await sandbox.start(toProfile(limits), command, start);
  const onAbort = (): void => running.kill();
  signal.addEventListener("abort", onAbort);
  try {
    const printed = [running.stdout, running.stderr].map((stream) => readOutput(stream, limits.consoleBytes));
    const said = await servePython(running.channel, session, limits.maxCalls);
    if (running.channel.destroyed && said !== undefined) running.kill();
    const timer = setTimeout(running.kill, graceMs);
    const exit = await running.exit;
    clearTimeout(timer);
    for (const text of await Promise.all(printed)) if (text !== "") session.print(text);
    signal.throwIfAborted();
    return said ?? toEnd(exit, performance.now() - startedAt > cpuSecondsOf(limits) * 1000);
  } finally {
    signal.removeEventListener("abort", onAbort);
    running.kill();
  }
}

/** What a Python program may use: the interpreter needs something before a program has anything. */
export function toPythonLimits(limits: CodeLimits): CodeLimits {
  return { ...limits, memoryBytes: Math.max(limits.memoryBytes, leastMemory) };
}

function toProfile(limits: CodeLimits): Profile {
  return {
    mounts: [{ source: ownFolder, target: ownTarget }],
    environment: {},
    programs: ["python3"],
    limits: { ...defaultLimits, memoryBytes: limits.memoryBytes, cpuSeconds: cpuSecondsOf(limits), processes: 16 },
  };
}

/** The program's own clock is more exact, and ends it before; this one cannot be stopped from inside. */
function cpuSecondsOf({ cpuMs }: CodeLimits): number {
  return Math.ceil(cpuMs / 1000) + 1;
}

function toEnd(status: ExitStatus, isLate: boolean): ProgramEnd {
  const { code, signal, outOfMemory } = status;
  if (outOfMemory === true) return { status: "out-of-memory" };
  const isKilled = (signal !== undefined && killers.has(signal)) || (code !== undefined && killerCodes.has(code));
  if (isKilled && isLate) return { status: "out-of-time" };
  return { status: "failed", reason: `${describeExit(status)} before it was finished` };
}

/** Reads what a program prints until it ends, keeps the beginning and lets the rest go. */
async function readOutput(stream: Readable, longest: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let isCut = false;
  try {
    for await (const bytes of stream as AsyncIterable<Uint8Array>) {
      // Output beyond the limit must be read too, or the program would wait for ever.
      if (text.length < longest) text += decoder.decode(bytes, { stream: true });
      else isCut = true;
    }
  } catch {
    // A program that is killed closes its streams as it likes; what came until then counts.
  }
  if (isCut || text.length > longest)
    return `${text.slice(0, longest)}… (only the first ${longest} characters are kept)`;
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

/** The channel of a program: only its calls and its end go over it, and after one message that cannot be read it is closed. */
const rpcLimits: RpcLimits = {
  maxMessageBytes: 32 * 1024 * 1024,
  maxAnswerBytes: Number.MAX_SAFE_INTEGER,
  maxParallel: Number.MAX_SAFE_INTEGER,
  messagesPerSecond: Number.MAX_SAFE_INTEGER,
  maxMistakes: 0,
};

/** Answers the calls of a program until it says how it ended, and answers with that; with nothing if it closes the channel before. */
async function servePython(
  channel: Duplex,
  session: ProgramSession,
  maxCalls: number,
): Promise<ProgramEnd | undefined> {
  const { promise: end, resolve } = Promise.withResolvers<ProgramEnd | undefined>();
  let count = 0;

  async function call({ tool, input = {} }: JsonObject): Promise<JsonValue> {
    const address = typeof tool === "string" ? tool : "";
    count += 1;
    if (count > maxCalls) throw new KitbagError("budget-spent", { tool: address, limit: maxCalls });
    const outcome = await session.call(address, input);
    if (outcome.status === "ok") return outcome.output;
    throw new KitbagError(outcome.error.code, outcome.error.details);
  }

  const methods = new Map<string, (params: JsonObject) => unknown>([
    ["call", call],
    ["end", (params) => resolve(toProgramEnd(params))],
  ]);
  const rpc = serveRpc(channel, methods, rpcLimits);
  void rpc.ended.then(() => resolve(rpc.hasGivenUp ? unreadable : undefined));
  return end;
}

const unreadable: ProgramEnd = { status: "failed", reason: "it wrote to the channel what is no message" };

function toProgramEnd({ status, json, reason, found }: Record<string, unknown>): ProgramEnd {
  if (status === "ok" && typeof json === "string" && isJson(json)) return { status, json };
  if (status === "no-json") return { status, found: String(found) };
  if (status === "out-of-time" || status === "out-of-memory") return { status };
  return { status: "failed", reason: String(reason) };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
