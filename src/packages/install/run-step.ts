import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";

import { createLineSplitter } from "../../platform/lines.ts";
import type { Limits, Mount, Profile, Sandbox } from "../../sandbox/sandbox.ts";
import type { DependencyProgress, PreparedDependencies } from "./dependency-request.ts";
import type { IndexRoute } from "./open-index.ts";
import type { Lock } from "./package-cache.ts";
import type { PackageSource } from "./package-source.ts";

/** The place of one install: a directory that programs inside may write to, and nothing else. */
export interface Workbench {
  readonly sandbox: Sandbox;
  /** The directory. */
  readonly work: string;
  /** The same directory, as programs inside see it. */
  readonly root: string;
  /** A directory for what programs are told: they can read it, and never make a link of what is written there. */
  readonly told: string;
  /** The same directory, as programs inside see it. */
  readonly toldInside: string;
  /** How much may be written to it. */
  readonly maxBytes: number;
  /** Ends the install. */
  readonly signal: AbortSignal;
}

/** A program that does a part of an install. */
export interface Step {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly mounts?: readonly Mount[];
  readonly programs?: readonly string[];
  /** The working directory inside. */
  readonly directory?: string;
  /** The way to the package index; without it there is no network. */
  readonly route?: IndexRoute | undefined;
  /** Gets each line of both outputs. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/** How a step ended. */
export interface StepResult {
  /** Missing when it was ended from here, or by a signal. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it was ended from here. */
  readonly stopped?: "too-large" | "out-of-memory";
}

const longestOutput = 1024 * 1024;
const looksEveryMs = 500;

/** Runs a part of an install. Rejects only when the install is ended. */
export function runStep(bench: Workbench, step: Step): Promise<StepResult> {
  const { sandbox, work, maxBytes, signal } = bench;
  const isTooLarge = async (): Promise<boolean> => (await sizeOf(work, maxBytes)) > maxBytes;
  const { onLine } = step;
  const command = ["sh", "-c", readable, "sh", ...step.command];
  return runInside(sandbox, { profile: toProfile(bench, step), command, signal, isTooLarge, onLine });
}

/** Packages are used by programs of root, which are other users, whatever the umask of this process is. */
const readable = 'umask 022; exec "$@"';

/** A program to run in a sandbox. */
export interface InsideProgram {
  readonly profile: Profile;
  readonly command: readonly string[];
  readonly signal: AbortSignal;
  /** Asked again and again; when it says so, the program is ended. */
  readonly isTooLarge?: () => Promise<boolean>;
  readonly onLine?: Step["onLine"];
}

/** Runs a program in a sandbox until it and all that it started are gone. Rejects when it is aborted. */
export async function runInside(sandbox: Sandbox, program: InsideProgram): Promise<StepResult> {
  const { profile, command, signal, isTooLarge, onLine } = program;
  signal.throwIfAborted();
  const started = await sandbox.start(profile, command, "");
  let tooLarge = false;
  signal.addEventListener("abort", started.kill, { once: true });
  const watch = setInterval(() => {
    void isTooLarge?.().then((is) => {
      tooLarge ||= is;
      if (is) started.kill();
    });
  }, looksEveryMs);
  try {
    if (signal.aborted) started.kill();
    const outputs = Promise.all([collect(started.stdout, onLine), collect(started.stderr, onLine)]);
    const [[stdout, stderr], exit] = await Promise.all([outputs, started.exit]);
    signal.throwIfAborted();
    // It may have ended before the first look.
    tooLarge ||= (await isTooLarge?.()) === true;
    const stopped = tooLarge ? "too-large" : exit.outOfMemory === true ? "out-of-memory" : undefined;
    if (stopped !== undefined) return { code: undefined, stdout, stderr, stopped };
    return { code: exit.code, stdout, stderr };
  } finally {
    clearInterval(watch);
    signal.removeEventListener("abort", started.kill);
    started.channel.destroy();
  }
}

function toProfile({ work, root, told, toldInside, maxBytes }: Workbench, step: Step): Profile {
  const { mounts = [], programs = [], route } = step;
  const own = { HOME: join(root, "home"), TMPDIR: join(root, "temporary") };
  return {
    mounts: [
      { source: work, target: root, write: true, granted: true },
      { source: told, target: toldInside, granted: true },
      ...mounts,
      ...(route?.mounts ?? []),
    ],
    environment: { ...own, ...step.environment, ...route?.environment },
    programs,
    ...(route?.egress !== undefined && { egress: route.egress }),
    directory: step.directory ?? root,
    limits: { ...buildLimits, fileBytes: maxBytes },
  };
}

const buildLimits: Omit<Limits, "fileBytes"> = {
  memoryBytes: 3 * 1024 * 1024 * 1024,
  cpuSeconds: 600,
  processes: 256,
  openFiles: 1024,
  temporaryBytes: 64 * 1024 * 1024,
};

/** Only the last part of a long output is kept: that is where a failure is told. */
async function collect(stream: Readable, onLine: Step["onLine"]): Promise<string> {
  const decoder = new TextDecoder();
  const lines = createLineSplitter({ maxBytes: longestOutput, onLine: (line) => onLine?.(line.toString()) });
  let text = "";
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    text = (text + decoder.decode(chunk, { stream: true })).slice(-longestOutput);
    lines.push(chunk);
  }
  return text;
}

/** The bytes of all files in a directory; stops counting once there are more than `enough`. */
async function sizeOf(directory: string, enough: number): Promise<number> {
  let bytes = 0;
  const left = [directory];
  for (let next = left.pop(); next !== undefined && bytes <= enough; next = left.pop()) {
    const current = next;
    // Files are counted while they are written: some may be gone when they are read.
    for (const entry of await readdir(current, { withFileTypes: true }).catch(() => [])) {
      const path = join(current, entry.name);
      if (entry.isDirectory()) left.push(path);
      else bytes += (await lstat(path).catch(() => undefined))?.size ?? 0;
    }
  }
  return bytes;
}

/** All that an install works with. */
export interface InstallPlace {
  readonly bench: Workbench;
  readonly source: PackageSource;
  readonly route: IndexRoute | undefined;
  /** Packages that may run code of their own while they are installed. */
  readonly granted: readonly string[];
  readonly onProgress: (progress: Omit<DependencyProgress, "language">) => void;
}

/** What knows how the packages of one request are installed. */
export interface Installer {
  /** What the lock depends on: equal requests have equal ones, on every machine. */
  readonly lockedBy: unknown;
  /** Where the installed packages run. */
  readonly platform: string;
  /**
   * Installs the packages into `done/content` of the work directory, and answers with their lock. With a lock it installs exactly
   * those files or fails; without one it resolves the request.
   */
  install(place: InstallPlace, lock: Lock | undefined): Promise<Lock>;
  /** How a sandbox gets the packages that are in `directory`. */
  toPrepared(directory: string): Pick<PreparedDependencies, "mounts" | "environment">;
}
