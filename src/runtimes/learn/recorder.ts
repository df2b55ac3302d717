import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";

import type { JsonObject } from "../../core/json.ts";
import { egressEnvironment } from "../../sandbox/egress/relay.ts";
import { type Egress, openEgress } from "../../sandbox/egress/open-egress.ts";
import type { FoundSandbox } from "../../sandbox/find-sandbox.ts";
import { makeReadableFolder } from "../../sandbox/host.ts";
import { type Mount, nothing, type Profile } from "../../sandbox/sandbox.ts";
import type { Family } from "../script/families.ts";
import { coldLauncher, type Launch, type Launcher } from "../script/launch.ts";
import type { LearnReport, Observation } from "./learn-report.ts";

const ownSource = join(import.meta.dirname, "inside");
const ownTarget = "/opt/kitbag/learn";
/** A rule that leads nowhere: with it, programs ask the proxy for addresses of this machine, too. */
const loopbackRule = "127.0.0.1:1";

/** Interpreters that can be watched from inside. */
const hooked: ReadonlySet<Family> = new Set(["python", "node"]);

/** How one round is watched. */
export interface RecorderOptions {
  readonly sandbox: FoundSandbox;
  /** What the script believes to be its working directory. */
  readonly directory: string;
  readonly round: number;
  /** Whether strace is there. */
  readonly traces: boolean;
}

/** Watches one run of a script. */
export interface Recorder {
  readonly launcher: Launcher;
  /** Adds to a profile what it takes to watch. */
  toProfile(base: Profile): Profile;
  /** All that was seen; call it when the script ended. */
  observe(): Observation[];
  /** What has watched the script. */
  readonly watchedBy: LearnReport["watchedBy"];
  close(): Promise<void>;
}

/** Makes what watches one run of a script: a proxy that refuses everything, hooks for Python and Node, and strace for all that runs. */
export async function openRecorder({ sandbox, directory, round, traces }: RecorderOptions): Promise<Recorder> {
  const place = join(realpathSync(sandbox.area.own), `learn-${round}`);
  makeReadableFolder(place);
  const egress = await openEgress({ rules: [], directory: sandbox.area.own });
  const records = join(place, "records");
  const cold = coldLauncher(sandbox);
  let watchedBy: LearnReport["watchedBy"] = "nothing";
  return {
    launcher: {
      start(launch) {
        watchedBy = traces ? "strace" : hooked.has(launch.interpreter.family) ? "hooks" : "nothing";
        return cold.start(toWatched(launch, traces ? place : undefined));
      },
    },
    get watchedBy() {
      return watchedBy;
    },
    toProfile: (base) => withRecorder(base, { place, records, directory, socket: egress.socket, traces }),
    observe: () => [
      ...readTraces(place, directory),
      // A trace shows how each start of a program ended, a hook does not.
      ...readRecords(records, directory).filter(({ kind }) => !traces || kind !== "program"),
      ...readConnections(egress),
    ],
    close: () => egress.close(),
  };
}

interface Recording {
  readonly place: string;
  readonly records: string;
  readonly directory: string;
  readonly socket: string;
  readonly traces: boolean;
}

function withRecorder(base: Profile, { place, records, directory, socket, traces }: Recording): Profile {
  const isThere = base.directory === directory;
  const own: Mount[] = [
    { source: ownSource, target: ownTarget },
    { source: place, target: place, write: true, granted: true },
    // It stands for the real one, so that relative paths are seen as the script means them.
    ...(isThere ? [] : [{ source: nothing, target: directory }]),
  ];
  return {
    ...base,
    mounts: [...base.mounts, ...own],
    environment: { ...base.environment, ...egressEnvironment([loopbackRule]), KITBAG_RECORD: records },
    programs: traces ? [...base.programs, "strace"] : base.programs,
    directory,
    egress: socket,
    ...(traces && { filter: "traced" as const }),
  };
}

/** Puts the hooks into the interpreter, and strace in front of it. */
function toWatched(launch: Launch, traceTo: string | undefined): Launch {
  const { interpreter, profile } = launch;
  const hooks = interpreter.family === "node" ? ["--require", `${ownTarget}/record.cjs`] : [];
  const path = [ownTarget, profile.environment["PYTHONPATH"]].filter(Boolean).join(":");
  const argv = [...hooks, ...interpreter.argv];
  const flags = ["-f", "-ff", "-qq", "-y", "-s", "4096", "-e", "trace=%file,connect", "-e", "signal=none"];
  return {
    ...launch,
    profile:
      interpreter.family === "python"
        ? { ...profile, environment: { ...profile.environment, PYTHONPATH: path } }
        : profile,
    interpreter:
      traceTo === undefined
        ? { ...interpreter, argv }
        : {
            ...interpreter,
            program: "/usr/bin/strace",
            argv: [...flags, "-o", join(traceTo, "trace"), "--", interpreter.program, ...argv],
          },
  };
}

function readTraces(place: string, directory: string): Observation[] {
  return readdirSync(place)
    .filter((name) => name.startsWith("trace."))
    .flatMap((name) => parseTrace(readText(join(place, name)), directory));
}

function readRecords(path: string, directory: string): Observation[] {
  return parseRecords(readText(path), directory);
}

const largestText = 64 * 1024 * 1024;

/** The script could write there, too: links and pipes in place of files are not followed. */
function readText(path: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const facts = fstatSync(descriptor);
    return facts.isFile() && facts.size <= largestText ? readFileSync(descriptor, "utf8") : "";
  } catch {
    // Nothing was written.
    return "";
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function readConnections({ connections }: Egress): Observation[] {
  return connections.map(({ host, port }) => ({ kind: "connection", host, port }));
}

/** Reads what the hooks inside an interpreter wrote, a line each. The script could have written there, too, so nothing is believed. */
function parseRecords(text: string, directory: string): Observation[] {
  return text.split("\n").flatMap((line) => {
    const record = parseLine(line);
    return record === undefined ? [] : (toObservation(record, directory) ?? []);
  });
}

function parseLine(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

const accesses = ["read", "write", "list", "make"] as const;

function toObservation(record: JsonObject, directory: string): Observation | undefined {
  const { kind, name, path, access, host, port } = record;
  if (kind === "variable" && typeof name === "string") return { kind, name };
  if (kind === "program" && typeof path === "string") return { kind, path, failed: true };
  if (kind === "connection" && typeof host === "string" && typeof port === "number") return { kind, host, port };
  if (kind !== "file" || typeof path !== "string" || path.includes("\0")) return undefined;
  const known = accesses.find((one) => one === access);
  if (known === undefined) return undefined;
  // A hook sees what is asked for, before it is known how it ends.
  return { kind, path: resolve(directory, path), access: known, failed: true };
}

/** Calls that change what is at a path. */
const writing = new Set(
  `creat unlink unlinkat rmdir rename renameat renameat2 link linkat symlink symlinkat mknod mknodat chmod fchmodat
   chown lchown fchownat truncate utime utimes utimensat futimesat setxattr lsetxattr`.split(/\s+/u),
);
const making = new Set(["mkdir", "mkdirat"]);
const opening = new Set(["open", "openat", "openat2", "creat"]);
const starting = new Set(["execve", "execveat"]);

const line = /^(?:\[pid +\d+\] |\d+ +)?(\w+)\((.*)\) += (-?\d+)(?:<(?:[^>\\]|\\.)*>)?(?: ([A-Z]+)\b.*)?$/u;
const pathArgument = /(?:(?:AT_FDCWD|\d+)(?:<((?:[^>\\]|\\.)*)>)?, )?"((?:[^"\\]|\\.)*)"(\.{3})?/gu;

/** Reads what `strace -y` wrote of one process, started in `directory`: the files, programs and addresses that it asked for. */
export function parseTrace(text: string, directory: string): Observation[] {
  let current = directory;
  return text.split("\n").flatMap((words) => {
    const [, call = "", argument = "", result = "", failure] = line.exec(words) ?? [];
    if (call === "") return [];
    if (call === "connect") return parseConnection(argument);
    const paths = toPaths(argument, current);
    if (call === "chdir" && Number(result) === 0) current = paths[0] ?? current;
    return toObservations(call, { argument, paths, failed: failure !== undefined });
  });
}

interface Traced {
  readonly argument: string;
  readonly paths: readonly string[];
  readonly failed: boolean;
}

function toObservations(call: string, { argument, paths, failed }: Traced): Observation[] {
  if (starting.has(call)) return paths.slice(0, 1).map((path) => ({ kind: "program", path, failed }));
  if (opening.has(call)) {
    const access = /O_WRONLY|O_RDWR|O_CREAT/u.test(argument) || call === "creat" ? "write" : "read";
    const isList = !failed && argument.includes("O_DIRECTORY");
    return paths.slice(0, 1).map((path) => ({ kind: "file", path, access: isList ? "list" : access, failed }));
  }
  if (making.has(call)) return paths.map((path) => ({ kind: "file", path, access: "make", failed }));
  const access = writing.has(call) ? "write" : "read";
  // What a link leads to is only a text.
  const touched = call.startsWith("symlink") ? paths.slice(1) : access === "write" ? paths : paths.slice(0, 1);
  return touched.map((path) => ({ kind: "file", path, access, failed }));
}

function toPaths(argument: string, current: string): string[] {
  return [...argument.matchAll(pathArgument)].flatMap(([, base, path = "", cut]) =>
    path === "" || cut !== undefined ? [] : [resolve(base === undefined ? current : unescape(base), unescape(path))],
  );
}

function parseConnection(argument: string): Observation[] {
  const port = Number(/port=htons\((\d+)\)/u.exec(argument)?.[1] ?? 0);
  const host = /inet_addr\("([\d.]+)"\)|inet_pton\(AF_INET6, "([\da-f:.]+)"/u.exec(argument);
  const address = host?.[1] ?? host?.[2];
  return address === undefined || port === 0 ? [] : [{ kind: "connection", host: address, port }];
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", v: "\v", f: "\f" };

/** Bytes that are not plain are written as in C; together they are UTF-8. */
function unescape(text: string): string {
  const bytes: number[] = [];
  for (const [piece, code] of text.matchAll(/\\([0-7]{1,3}|x[\da-f]{2}|.)|[^\\]/gu)) {
    if (code === undefined) bytes.push(...Buffer.from(piece));
    else if (/^[0-7]/u.test(code)) bytes.push(Number.parseInt(code, 8));
    else if (/^x./u.test(code)) bytes.push(Number.parseInt(code.slice(1), 16));
    else bytes.push(...Buffer.from(escapes[code] ?? code));
  }
  return Buffer.from(bytes).toString("utf8");
}
