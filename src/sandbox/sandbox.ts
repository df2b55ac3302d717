/**
 * `sandbox`: runs programs that are not trusted, isolated by the operating system. Imports `platform` and `core` only; runtimes, packages
 * and skills start programs through it. Start here, with what a sandbox promises; then `find-sandbox.ts` (which one is used),
 * `grants.ts` (permissions become mounts), `backends/linux.ts` (how a program starts) and `egress/` (the only way to the network).
 */

import type { Duplex, Readable } from "node:stream";

/** What a sandbox can hold a program to; see {@link Sandbox.enforces}. */
export const guarantees = [
  "files",
  "network",
  "sockets",
  "environment",
  "processes",
  "user",
  "privileges",
  "syscalls",
  "programs",
  "memory",
  "cpu",
  "process-count",
  "open-files",
  "file-size",
  "disk",
] as const;

/** One thing that a sandbox can hold a program to. */
export type Guarantee = (typeof guarantees)[number];

/** The back ends there are; `off` isolates nothing, and only an operator can choose it. */
export const sandboxNames = ["bubblewrap", "unshare", "firejail", "nsjail", "seatbelt", "off"] as const;

/** The name of a back end. */
export type SandboxName = (typeof sandboxNames)[number];

/** The source of a mount that is an empty directory, to hide what is at its target. */
export const nothing = "nothing:";

/** The source of a mount that is an empty file, to hide the file that is at its target. */
export const emptyFile = "empty:";

/** A file or directory of the host that exists inside. */
export interface Mount {
  /** Absolute, with symbolic links resolved; or {@link nothing} or {@link emptyFile}. */
  readonly source: string;
  /** Where it is inside, absolute. */
  readonly target: string;
  /** @default false */
  readonly write?: boolean;
  /** Exactly this path was granted, so the program acts on it as its owner would. @default false */
  readonly granted?: boolean;
  /**
   * The granted folder that this is one entry of, mounted on its own. The program acts on it as the owner of that folder. If the entry is
   * gone or replaced when the program starts, it is left out.
   */
  readonly partOf?: string;
  /** The place of the host that this keeps a program off. When another file takes it, the kernel removes this mount: see `noteShields`. */
  readonly shields?: string;
}

/** How much of the machine one program may use. */
export interface Limits {
  readonly memoryBytes: number;
  /** CPU time of one process. */
  readonly cpuSeconds: number;
  readonly processes: number;
  readonly openFiles: number;
  /** The largest file it may write. */
  readonly fileBytes: number;
  /** All of its private temporary directory. */
  readonly temporaryBytes: number;
}

/** A folder of the host in whose place a program finds its private folder. */
export interface WorkPlace {
  readonly path: string;
  /** Folders in it, relative to it, that are private as well; the program cannot move them away. */
  readonly folders: readonly string[];
}

/** Everything that one program may see and use. What is not in it does not exist inside. Equal profiles may share warm slots. */
export interface Profile {
  readonly mounts: readonly Mount[];
  /**
   * Folders of `/tmp` inside that are empty but for mounts, and cannot be written: on the host they lead to something else than a
   * private place, and what is written there would be lost. @default none
   */
  readonly sealed?: readonly string[];
  /** All of its environment, but for `PATH`, `HOME`, `TMPDIR` and `LANG`, which are always set and can be changed here. */
  readonly environment: Readonly<Record<string, string>>;
  /** Programs that exist inside beside the basic ones, each by name or absolute path; `"*"` is every program of the system. */
  readonly programs: readonly string[];
  /** The socket of an egress proxy on the host; without it there is no network at all. */
  readonly egress?: string;
  /** The socket of a debugger on the host; the program reaches it at `debugPort` of its loopback interface. */
  readonly debug?: string;
  /** `private`: it may make Unix sockets of its own; those that are in mounts when it starts are hidden. @default it has no Unix sockets */
  readonly sockets?: "private";
  /** Where the files of the private folder of a call are mounted as well, with the mounts below in them. @default nowhere else */
  readonly work?: WorkPlace;
  /** The working directory inside. @default "/tmp" */
  readonly directory?: string;
  readonly limits: Limits;
  /**
   * Which system calls are allowed. `fork-server` may make namespaces for the calls it serves, and drops that right in them; `traced`
   * may watch the processes that it starts. @default "tool"
   */
  readonly filter?: "tool" | "fork-server" | "traced";
}

/** How a program ended. */
export interface ExitStatus {
  /** Missing when a signal ended it. */
  readonly code?: number;
  readonly signal?: string;
  /** It was ended because it used more memory than its limit. */
  readonly outOfMemory?: boolean;
  /** It was ended because what is at this shielded place was replaced, which takes the shield away. */
  readonly replaced?: string;
}

/** How a program ended, in words that follow a colon. */
export function describeExit({ code, signal, outOfMemory, replaced }: ExitStatus): string {
  if (replaced !== undefined) return `${replaced} is shielded, and was replaced while it ran`;
  if (outOfMemory === true) return "it used more memory than it may";
  return signal === undefined ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
}

/** A program that runs inside. */
export interface SandboxProcess {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Both directions; inside it is the descriptor 3. */
  readonly channel: Duplex;
  /** Writes all of standard input, which is a file; only for a program that was started without one and does not read it yet. */
  fillInput(input: string | Uint8Array): void;
  /** Resolves when the program and everything that it started are gone. Never rejects. */
  readonly exit: Promise<ExitStatus>;
  /** Ends the program and everything that it started, at once. */
  kill(): void;
  /** Whether this process waits for it before it ends by itself; it does from the start. */
  setHeld(held: boolean): void;
}

/**
 * A place where programs run that we do not trust.
 *
 * **Contract**: `start` refuses (throws) a profile that it cannot enforce. Nothing of the host but what the profile names can be
 * read, written or reached. When `kill` was called, or the process that started it dies, nothing that it started goes on.
 */
export interface Sandbox {
  readonly name: SandboxName;
  readonly enforces: ReadonlySet<Guarantee>;
  /**
   * It cannot show a file at another place: what is mounted is at its source. Commands may name their files by their targets all the
   * same, but programs do not find them there. @default false
   */
  readonly keepsPaths?: boolean;
  /** It shields places with mounts, which are lost when another file takes such a place. @default false */
  readonly mountsShields?: boolean;
  /** Starts `command` (program and arguments, as they are called inside) with `input` to read. */
  start(profile: Profile, command: readonly string[], input?: string | Uint8Array): Promise<SandboxProcess>;
  /** Ends whatever still runs and removes what it left on disk. */
  close(): Promise<void>;
}

/** What a tool may use by default. */
export const defaultLimits: Limits = {
  memoryBytes: 512 * 1024 * 1024,
  cpuSeconds: 60,
  processes: 64,
  openFiles: 256,
  fileBytes: 64 * 1024 * 1024,
  temporaryBytes: 64 * 1024 * 1024,
};

/** Where something of inside is on the host: at its mount's source. What no mount has is the same on both sides. */
export function toHostPath(mounts: readonly Mount[], path: string): string {
  for (const { source, target } of mounts) {
    if (path === target) return source;
    if (path.startsWith(`${target}/`)) return source + path.slice(target.length);
  }
  return path;
}
