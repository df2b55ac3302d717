import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import type { Socket } from "node:net";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

import { KitbagError } from "../../core/errors.ts";
import { filterArchitecture } from "../backends/with-relay.ts";
import { toEnvironment } from "../layout.ts";
import { writeReadableFile } from "../host.ts";
import { nothing, type ExitStatus, type Mount, type Profile, type Sandbox, type SandboxProcess } from "../sandbox.ts";
import { fillOrEnd, makeWorkFolder, workTarget, type FillFolder } from "../work-folder.ts";
import { removeTree } from "../work-area.ts";
import { readOpenFileLimit, socketBytes } from "../limits/watch-resources.ts";
import { renderFilter } from "../seccomp/render-filter.ts";
import { toExitStatus } from "../start-program.ts";
import { createShelf, type Waiting } from "./shelf.ts";
import { createStreamMaker, type CallStreams, type StreamMaker } from "./call-streams.ts";

/** One script to run. */
export interface ForkOrder {
  /** The script's path inside, and its arguments. */
  readonly argv: readonly string[];
  /** Environment variables of this script, beside those of the profile. */
  readonly environment: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  /** Puts files into the private folder of the call, before anything of the script runs. */
  readonly fill?: FillFolder;
}

/** An interpreter that waits inside a sandbox, and runs each script in a child with namespaces of its own. */
export interface ForkServer {
  start(order: ForkOrder): Promise<SandboxProcess>;
  /** Has a child wait for the first script, which otherwise makes its own. */
  prepare(): void;
  /** How many scripts run in it now. */
  readonly running: number;
  /** Resolves when it is gone. */
  readonly ended: Promise<unknown>;
  close(): void;
}

/** What a fork server serves. */
export interface ForkServerOptions {
  readonly sandbox: Sandbox;
  /** What each script may see and use. */
  readonly profile: Profile;
  /** The Python to wait with, as it is called inside. */
  readonly program: string;
  /** Where the streams of calls are made; no other user can enter it. */
  readonly directory: string;
  /** Whether calls have private folders, which are filled. @default false */
  readonly hasFolders?: boolean;
}

/** How many scripts one server has at once at most, as far as its own limits go. */
const childrenAtOnce = 16;
const callsInside = "/run/calls";
/** The private folders of all calls of a server; each child sees only its own, at another place. */
const foldersInside = "/run/folders";

/** Starts a fork server. */
export async function startForkServer(options: ForkServerOptions): Promise<ForkServer> {
  const { sandbox, profile, program, hasFolders = false } = options;
  const directory = join(options.directory, randomBytes(8).toString("hex"));
  const [calls, folders] = [join(directory, "calls"), join(directory, "folders")];
  for (const folder of [calls, folders]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const filter = join(directory, "filter");
  writeReadableFile(filter, renderFilter("tool", filterArchitecture()));
  const streams = await createStreamMaker(calls);
  const mounts = [
    { source: calls, target: callsInside, granted: true },
    ...(hasFolders ? [{ source: folders, target: foldersInside, granted: true, write: true }] : []),
    ...(hasFolders ? [{ source: nothing, target: workTarget }] : []),
    { source: filter, target: "/opt/kitbag/warm/filter" },
  ];
  const server = await sandbox.start(toServerProfile(profile, mounts), [program, "/opt/kitbag/warm/serve.py"]);
  server.stdout.resume();
  const complaints = text(server.stderr);
  void server.exit.then(async () => {
    streams.close();
    // The runtime removes those that were filled, when it has read what is in them.
    await Promise.all([calls, filter].map((path) => rm(path, { recursive: true, force: true })));
    await rmdir(folders).catch(() => {});
    await rmdir(directory).catch(() => {});
  });
  const serving = createServing({ server, streams, profile, ...(hasFolders && { folders }) });
  const started = await Promise.race([serving.ready, server.exit.then(() => undefined)]);
  if (started === undefined) {
    throw new KitbagError("sandbox-failed", { sandbox: sandbox.name, reason: (await complaints).trim().slice(-500) });
  }
  server.setHeld(false);
  return serving;
}

function toServerProfile(profile: Profile, mounts: readonly Mount[]): Profile {
  const { limits } = profile;
  const settings = {
    memoryBytes: limits.memoryBytes,
    temporaryBytes: limits.temporaryBytes,
    socketBytes,
    inTemporary: findOutermost(profile, "/tmp"),
    work: profile.work,
    inWork: profile.work === undefined ? [] : findOutermost(profile, profile.work.path),
    limits: {
      RLIMIT_CPU: limits.cpuSeconds,
      RLIMIT_FSIZE: limits.fileBytes,
      RLIMIT_NPROC: limits.processes,
      RLIMIT_NOFILE: Math.min(limits.openFiles, readOpenFileLimit().hard),
      RLIMIT_DATA: limits.memoryBytes,
    },
  };
  return {
    ...profile,
    filter: "fork-server",
    directory: "/",
    mounts: [
      ...profile.mounts,
      ...mounts,
      ...["serve.py", "call_memory.py"].map((name) => ({
        source: join(import.meta.dirname, "inside", name),
        target: `/opt/kitbag/warm/${name}`,
      })),
    ],
    // It has rights that no script may have, so nothing that scripts are given may change how it starts.
    environment: {
      KITBAG_SERVER: JSON.stringify(settings),
      PYTHONNOUSERSITE: "1",
      PYTHONDONTWRITEBYTECODE: "1",
    },
    limits: {
      ...limits,
      // The server ends a call that uses too much; this is for all that run at once.
      memoryBytes: limits.memoryBytes * 4,
      cpuSeconds: 24 * 60 * 60,
      processes: limits.processes * childrenAtOnce,
      openFiles: Math.max(limits.openFiles, 1024),
    },
  };
}

/** What each child must put back into a folder of its own that covers `folder`; a folder brings along what is mounted in it. */
function findOutermost({ mounts, sealed = [] }: Profile, folder: string): readonly string[] {
  const places = new Set([...sealed, ...mounts.map(({ target }) => target)]);
  const targets = [...places].filter((target) => target.startsWith(`${folder}/`));
  return targets.filter((target) => !targets.some((other) => target.startsWith(`${other}/`)));
}

interface Ending {
  end(status: ExitStatus): void;
  fail(reason: string): void;
}

interface Serving {
  readonly server: SandboxProcess;
  readonly streams: StreamMaker;
  readonly profile: Profile;
  /** Where the private folders of calls are made. */
  readonly folders?: string;
  /** Of the children that are there, by the id of their streams. */
  readonly endings: Map<string, Ending>;
  /** How many of them run a script. */
  running: number;
}

/** A child that waits for its script. */
interface Child extends Waiting {
  run(order: ForkOrder): Promise<SandboxProcess>;
}

function createServing(parts: Omit<Serving, "endings" | "running">) {
  const serving: Serving = { ...parts, endings: new Map(), running: 0 };
  const { server } = parts;
  const children = createShelf<Child>();
  const { promise: ready, resolve: setReady } = Promise.withResolvers<true>();
  const answers = createInterface({ input: server.channel });
  // What a server that dies does not say, its end does.
  answers.on("error", () => {});
  answers.on("line", (line) => {
    const answer = JSON.parse(line) as Answer;
    if (answer.ready === true) return setReady(true);
    const ending = serving.endings.get(answer.id ?? "");
    if (answer.failed !== undefined) ending?.fail(answer.failed);
    else ending?.end(toEnd(answer));
  });
  void server.exit.then(({ replaced }) => {
    children.close();
    const status = { signal: "SIGKILL", ...(replaced !== undefined && { replaced }) };
    for (const ending of serving.endings.values()) ending.end(status);
  });
  const prepare = (): Promise<Child> => prepareChild(serving);
  return {
    ready,
    async start(order: ForkOrder) {
      const child = children.take("child", prepare) ?? (await prepare());
      return child.run(order);
    },
    prepare: () => children.prepare("child", prepare),
    get running() {
      return serving.running;
    },
    ended: server.exit,
    close: () => server.kill(),
  };
}

/** Makes a child that has its namespaces and its streams, and waits. */
async function prepareChild(serving: Serving): Promise<Child> {
  const { server, streams, endings } = serving;
  const call = await streams.make();
  const folder = serving.folders === undefined ? undefined : makeWorkFolder(serving.folders, serving.profile);
  let isTaken = false;
  const { promise: exit, resolve } = Promise.withResolvers<ExitStatus>();
  const failed = new Promise<never>((_, reject) => {
    const fail = (reason: string): void => {
      endings.delete(call.id);
      call.release();
      reject(new KitbagError("sandbox-failed", { sandbox: "fork server", reason }));
    };
    const end = (status: ExitStatus): void => {
      if (folder !== undefined && !isTaken) void removeTree(folder.root);
      resolve(status);
      fail("it did not get as far as its script");
    };
    endings.set(call.id, { end, fail });
  });
  failed.catch(() => {});
  send(server, { prepare: call.id, folder: folder && basename(folder.root) });
  const channel = await Promise.race([call.channel, failed]).catch((cause: unknown) => {
    // Its output was not read, and its streams serve another call only when they are read to their end.
    for (const stream of [call.stdout, call.stderr]) stream.resume();
    throw cause;
  });
  const held = [call.stdout, call.stderr, channel] as Socket[];
  for (const stream of held) stream.unref();
  const kill = (): void => send(server, { kill: call.id });
  return {
    ended: exit,
    close: kill,
    async run(order) {
      isTaken = true;
      for (const stream of held) stream.ref();
      runIn(serving, exit);
      if (folder !== undefined) await fillOrEnd(folder, order.fill ?? (async () => {}), kill);
      send(server, { run: call.id });
      channel.write(toMessage(serving.profile, order));
      return toProcess(server, call, { channel, exit, kill });
    },
  };
}

/** The server must live as long as a script runs in it. */
function runIn(serving: Serving, exit: Promise<unknown>): void {
  serving.running++;
  serving.server.setHeld(true);
  void exit.then(() => {
    serving.running--;
    if (serving.running === 0) serving.server.setHeld(false);
  });
}

/** A line that says what to run, and then what it can read. */
function toMessage(profile: Profile, { argv, environment, input = "" }: ForkOrder): Uint8Array {
  const bytes = Buffer.from(input);
  const env = { ...toEnvironment(profile), ...environment };
  const order = { argv, env, directory: profile.directory ?? "/tmp", inputBytes: bytes.length };
  return Buffer.concat([Buffer.from(`${JSON.stringify(order)}\n`), bytes]);
}

function send(server: SandboxProcess, message: object): void {
  if (server.channel.writable) server.channel.write(`${JSON.stringify(message)}\n`);
}

/** A line that the server says. */
interface Answer {
  readonly ready?: true;
  readonly id?: string;
  readonly status?: number;
  readonly outOfMemory?: boolean;
  readonly failed?: string;
}

function toEnd({ status = 0, outOfMemory = false }: Answer): ExitStatus {
  // Python says a signal as a negative number.
  const ended = toExitStatus(status < 0 ? 128 - status : status);
  return outOfMemory ? { ...ended, outOfMemory } : ended;
}

function toProcess(
  server: SandboxProcess,
  { stdout, stderr }: CallStreams,
  own: Pick<SandboxProcess, "channel" | "exit" | "kill">,
): SandboxProcess {
  return {
    pid: server.pid,
    stdout,
    stderr,
    ...own,
    fillInput: () => {
      throw new TypeError("the input of a forked script is given with its order");
    },
    setHeld: () => {},
  };
}
