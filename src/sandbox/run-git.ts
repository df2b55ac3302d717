import { spawn } from "node:child_process";
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";

/** How git is run. */
export interface GitOptions {
  /** A repository of ours. */
  readonly directory: string;
  readonly limitMs: number;
  /** The most that it may print. */
  readonly maxOutputBytes: number;
  /** The most that the repository may hold on disk meanwhile. */
  readonly maxDiskBytes: number;
  /** The one way it may reach others. @default none */
  readonly protocol?: "https" | "http" | "ssh" | "git" | "file";
  /** More settings. They are not on the command line, where every user of the machine could read them. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly signal?: AbortSignal;
}

/** The result of the command. */
export type GitRun =
  | { readonly status: "ok"; readonly stdout: Buffer }
  | { readonly status: "failed"; readonly stderr: string }
  /** It was stopped, or could not be started. */
  | { readonly status: "missing" | "timeout" | "large" };

/** Nothing of a repository is run, checked out or asked; git asks for no password. */
const ownSettings: Readonly<Record<string, string>> = {
  "core.hooksPath": devNull,
  "core.fsmonitor": "false",
  "core.symlinks": "false",
  "core.attributesFile": devNull,
  "core.askPass": "",
  "credential.helper": "",
  "fetch.recurseSubmodules": "false",
  "submodule.recurse": "false",
  "protocol.allow": "never",
  "http.followRedirects": "false",
  "http.lowSpeedLimit": "1000",
  "http.lowSpeedTime": "30",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "advice.detachedHead": "false",
};

/**
 * Runs git with an environment and settings of ours only: no hooks, no filters, no helpers, no settings of the person or the machine.
 *
 * Contract: rejects only with what the signal was aborted with. When it is stopped, nothing that it started keeps running.
 */
export async function runGit(args: readonly string[], options: GitOptions): Promise<GitRun> {
  const { directory, limitMs, maxOutputBytes, maxDiskBytes, signal, input = "" } = options;
  signal?.throwIfAborted();
  const child = spawn("git", args, {
    cwd: directory,
    env: toEnvironment(options),
    stdio: ["pipe", "pipe", "pipe"],
    // A group of its own: its helpers for the network end with it.
    detached: process.platform !== "win32",
  });
  child.stdin.on("error", () => {}).end(input);
  let end: GitRun["status"] | undefined;
  const stop = (status: GitRun["status"]): void => {
    end ??= status;
    killGroup(child.pid, () => child.kill("SIGKILL"));
  };
  const clock = setTimeout(() => stop("timeout"), limitMs);
  const scale = setInterval(() => {
    if (findBytes(directory) > maxDiskBytes) stop("large");
  }, 200);
  const abort = (): void => stop("failed");
  signal?.addEventListener("abort", abort, { once: true });
  try {
    const [stdout, stderr, code] = await Promise.all([
      collect(child.stdout, maxOutputBytes, () => stop("large")),
      collect(child.stderr, maxErrorBytes),
      new Promise<number | null | "missing">((resolve) => {
        child.once("error", () => resolve("missing"));
        child.once("close", resolve);
      }),
    ]);
    signal?.throwIfAborted();
    if (code === "missing") return { status: "missing" };
    if (end === "timeout" || end === "large") return { status: end };
    if (findBytes(directory) > maxDiskBytes) return { status: "large" };
    return code === 0 ? { status: "ok", stdout } : { status: "failed", stderr: stderr.toString("utf8") };
  } finally {
    clearTimeout(clock);
    clearInterval(scale);
    signal?.removeEventListener("abort", abort);
  }
}

const maxErrorBytes = 64 * 1024;

/** What git and the programs it starts need of the person's environment: where programs, keys and certificates are. */
const passedOn = ["PATH", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "SystemRoot", "TMPDIR"];

function toEnvironment({ directory, protocol, settings = {} }: GitOptions): Record<string, string> {
  const all = Object.entries({
    ...ownSettings,
    ...(protocol !== undefined && { [`protocol.${protocol}.allow`]: "always" }),
    ...settings,
  });
  const passed = passedOn.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(passed),
    HOME: directory,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    GIT_LFS_SKIP_SMUDGE: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_PROTOCOL_FROM_USER: "0",
    GIT_ALLOW_PROTOCOL: protocol ?? "none",
    GIT_SSH_COMMAND: "ssh -o BatchMode=yes -o ConnectTimeout=20",
    GIT_CONFIG_COUNT: String(all.length),
    ...Object.fromEntries(
      all.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

async function collect(stream: AsyncIterable<Buffer>, maxBytes: number, onMore?: () => void): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    bytes += piece.length;
    if (bytes <= maxBytes) pieces.push(piece);
    else onMore?.();
  }
  return Buffer.concat(pieces);
}

function killGroup(pid: number | undefined, otherwise: () => unknown): void {
  try {
    if (pid === undefined || process.platform === "win32") otherwise();
    else process.kill(-pid, "SIGKILL");
  } catch {
    // It has just ended.
    otherwise();
  }
}

/** How much the files below a folder hold. What vanishes meanwhile counts nothing. */
function findBytes(directory: string): number {
  let bytes = 0;
  for (const item of listFolder(directory)) {
    const path = join(directory, item.name);
    bytes += item.isDirectory() ? findBytes(path) : (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0);
  }
  return bytes;
}

function listFolder(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}
