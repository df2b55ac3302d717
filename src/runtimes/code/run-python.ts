import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { findProgram } from "../../sandbox/programs.ts";
import { defaultLimits, type ExitStatus, type Profile, type Sandbox } from "../../sandbox/sandbox.ts";
import type { CodeLimits } from "./code-limits.ts";
import type { ProgramEnd } from "./inside/program/messages.ts";
import type { ProgramSession } from "./program-session.ts";
import { readOutput } from "./read-output.ts";
import { servePython } from "./serve-python.ts";
import type { ToolNames } from "./tool-names.ts";

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

function toEnd({ code, signal, outOfMemory }: ExitStatus, isLate: boolean): ProgramEnd {
  if (outOfMemory === true) return { status: "out-of-memory" };
  const isKilled = (signal !== undefined && killers.has(signal)) || (code !== undefined && killerCodes.has(code));
  if (isKilled && isLate) return { status: "out-of-time" };
  const how = signal === undefined ? `exit code ${code}` : `the signal ${signal}`;
  return { status: "failed", reason: `it ended with ${how} before it was finished` };
}
