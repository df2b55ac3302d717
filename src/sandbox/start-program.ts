import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, constants as files, openSync } from "node:fs";
import { constants } from "node:os";
import type { Duplex } from "node:stream";

import { KitbagError } from "../core/errors.ts";
import { readOpenFileLimit } from "./limits/watch-resources.ts";
import type { Pipes } from "./pipes.ts";
import type { ExitStatus, SandboxName, SandboxProcess } from "./sandbox.ts";

/** A program of the host and how to start it. */
export interface HostCommand {
  readonly sandbox: SandboxName;
  /** The program, by its absolute path or name, and its arguments. */
  readonly words: readonly string[];
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** What it can read from the descriptors 4, 5, … */
  readonly files?: readonly (string | Uint8Array)[];
  /** Descriptors of this process that it gets after those. They stay open here. */
  readonly descriptors?: readonly number[];
  /** Whether the descriptor after those ends when this process does. @default false */
  readonly lifeline?: boolean;
  /** Descriptors of this process that it must not inherit. */
  readonly hidden?: readonly number[];
  /** An exit code above 128 means a signal, as a shell says it. @default false */
  readonly tellsSignals?: boolean;
}

/** Starts a program with real pipes, a file as standard input and a channel as descriptor 3. */
export async function startProgram(
  command: HostCommand,
  pipes: Pipes,
  input?: string | Uint8Array,
): Promise<SandboxProcess> {
  refuseHigh(command);
  const [stdout, stderr] = await Promise.all([pipes.openOutput(), pipes.openOutput()]);
  const stdin = pipes.openInput();
  if (input !== undefined) stdin.fill(input);
  const orders = (command.files ?? []).map((file) => fillFile(pipes, file));
  const handed = [stdin.descriptor, stdout.descriptor, stderr.descriptor, ...orders];
  const child = spawnWith(command, handed);
  const exit = toExit(child, command.tellsSignals ?? false);
  for (const descriptor of handed) closeSync(descriptor);
  void exit.then(() => stdin.close());
  if (child.pid === undefined) {
    stdout.stream.destroy();
    stderr.stream.destroy();
    throw new KitbagError("sandbox-failed", { sandbox: command.sandbox, reason: await reasonOf(child) });
  }
  const channel = child.stdio[3] as Duplex;
  // A program that ends while something is still written to it is no fault of this process.
  channel.on("error", () => {});
  return {
    pid: child.pid,
    stdout: stdout.stream,
    stderr: stderr.stream,
    channel,
    fillInput: (text) => stdin.fill(text),
    exit,
    kill: () => killGroup(child),
    setHeld: (held) => setHeld([child, ...child.stdio.slice(3), stdout.stream, stderr.stream], held),
  };
}

/** A descriptor above the limit cannot be kept from a program: it must not be inherited, and nothing can be put in its place. */
function refuseHigh({ sandbox, hidden = [] }: HostCommand): void {
  if (hidden.length === 0) return;
  const highest = Math.max(...hidden);
  const { soft } = readOpenFileLimit();
  if (highest < soft) return;
  const found = `the descriptor ${highest}, which was open when Kitbag was started, is above the limit of open files, ${soft}`;
  const reason = `${found}; raise the limit (ulimit -n ${2 * highest}), or start Kitbag without that descriptor`;
  throw new KitbagError("sandbox-failed", { sandbox, reason });
}

function fillFile(pipes: Pipes, content: string | Uint8Array): number {
  const file = pipes.openInput();
  file.fill(content);
  file.close();
  return file.descriptor;
}

function spawnWith(command: HostCommand, handed: readonly number[]): ChildProcess {
  const [stdin, stdout, stderr, ...orders] = handed;
  const stdio: (number | "pipe" | "ignore" | undefined)[] = [stdin, stdout, stderr, "pipe", ...orders];
  stdio.push(...(command.descriptors ?? []));
  if (command.lifeline === true) stdio.push("pipe");
  const nothing = openSync("/dev/null", files.O_RDWR);
  for (const descriptor of command.hidden ?? []) {
    while (stdio.length <= descriptor) stdio.push("ignore");
    if (stdio[descriptor] === "ignore") stdio[descriptor] = nothing;
  }
  const [file = "", ...argv] = command.words;
  const { environment: env, directory: cwd } = command;
  const child = spawn(file, argv, { stdio, env, detached: true, ...(cwd !== undefined && { cwd }) });
  closeSync(nothing);
  return child;
}

function setHeld(handles: readonly unknown[], held: boolean): void {
  for (const handle of handles as readonly { ref?(): void; unref?(): void }[]) {
    if (held) handle?.ref?.();
    else handle?.unref?.();
  }
}

function toExit(child: ChildProcess, tellsSignals: boolean): Promise<ExitStatus> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      if (signal !== null) return resolve({ signal });
      resolve(tellsSignals ? toExitStatus(code ?? 0) : { code: code ?? 0 });
    });
    child.once("error", () => resolve({ code: 127 }));
  });
}

/** How a program ended, by an exit code as a shell has it: above 128 it was a signal. */
export function toExitStatus(code: number): ExitStatus {
  const signal = code > 128 ? toSignal(code - 128) : undefined;
  return signal === undefined ? { code } : { signal };
}

function toSignal(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}

function reasonOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => child.once("error", (cause) => resolve(cause.message)));
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // All of it ended.
  }
}
