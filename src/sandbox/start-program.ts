import { spawn, type ChildProcess } from "node:child_process";
import { closeSync } from "node:fs";
import type { Duplex } from "node:stream";

import { KitbagError } from "../core/errors.ts";
import type { Pipes } from "./pipes.ts";
import type { ExitStatus, SandboxProcess } from "./sandbox.ts";

/** A program of the host and how to start it. */
export interface HostCommand {
  readonly file: string;
  readonly argv: readonly string[];
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** The user and group it becomes, if this process is root. */
  readonly user?: number;
  /** Descriptors that it gets from 4 on, beside the standard streams and the channel; closed here once it has them. */
  readonly descriptors?: readonly number[];
  readonly directory?: string;
  /** Ends all that it started; @default a signal to its process group */
  readonly kill?: (child: ChildProcess) => void;
}

/** Starts a program with real pipes, a file as standard input and a channel as descriptor 3. */
export async function startProgram(
  command: HostCommand,
  pipes: Pipes,
  input?: string | Uint8Array,
): Promise<SandboxProcess> {
  const [stdout, stderr] = await Promise.all([pipes.openOutput(), pipes.openOutput()]);
  const stdin = pipes.openInput();
  if (input !== undefined) stdin.fill(input);
  const handed = [stdin.descriptor, stdout.descriptor, stderr.descriptor];
  const child = spawn(command.file, command.argv, {
    stdio: [...handed, "pipe", ...(command.descriptors ?? [])] as ("pipe" | number)[],
    env: command.environment,
    detached: true,
    ...(command.user !== undefined && { uid: command.user, gid: command.user }),
    ...(command.directory !== undefined && { cwd: command.directory }),
  });
  const exit = toExit(child);
  for (const descriptor of [...handed, ...(command.descriptors ?? [])]) closeSync(descriptor);
  void exit.then(() => stdin.close());
  if (child.pid === undefined) {
    for (const stream of [stdout.stream, stderr.stream]) stream.destroy();
    throw new KitbagError("sandbox-failed", { sandbox: command.file, reason: await reasonOf(child) });
  }
  const channel = child.stdio[3] as Duplex;
  // A program that ends while something is still written to it is no fault of this process.
  channel.on("error", () => {});
  return {
    pid: child.pid,
    stdout: stdout.stream,
    stderr: stderr.stream,
    channel,
    fillInput: stdin.fill,
    exit,
    kill: () => (command.kill ?? killGroup)(child),
  };
}

function toExit(child: ChildProcess): Promise<ExitStatus> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve(signal === null ? { code: code ?? 0 } : { signal }));
    child.once("error", () => resolve({ code: 127 }));
  });
}

function reasonOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => child.once("error", (cause) => resolve(cause.message)));
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It ended in the meantime.
  }
}
