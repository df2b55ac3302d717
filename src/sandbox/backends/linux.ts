import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { isBelow } from "../find-link-out.ts";
import { createPathGuard, type HeldMount, holdPlaces, releasePlaces } from "../hold-places.ts";
import {
  isOpenToTools,
  isRoot,
  nextUser,
  type Prelude,
  toJoin,
  withPrelude,
  makeReadableFolder,
  writeReadableFile,
} from "../host.ts";
import { type Layout, toLayout } from "../layout.ts";
import type { ControlGroups, GroupMembership } from "../limits/control-groups.ts";
import { readOpenFileLimit, watchFiles, watchMemory } from "../limits/watch-resources.ts";
import type { Pipes } from "../pipes.ts";
import {
  emptyFile,
  type ExitStatus,
  type Guarantee,
  type Mount,
  nothing,
  type Profile,
  type Sandbox,
  type SandboxName,
  type SandboxProcess,
} from "../sandbox.ts";
import { type HostCommand, startProgram } from "../start-program.ts";
import { type FindReplaced, noteShields, watchShields } from "../watch-shields.ts";
import type { WorkArea } from "../work-area.ts";
import { withRelay } from "./with-relay.ts";

/** What every back end of Linux works with. */
export interface LinuxHost {
  readonly area: WorkArea;
  readonly pipes: Pipes;
  /** Missing if this user may not make any; then the memory is watched from here. */
  readonly groups?: ControlGroups;
}

/** The file system inside, with what is held open of the host. */
export interface HeldLayout extends Layout {
  readonly mounts: readonly HeldMount[];
}

/** A profile made ready for a back end. */
interface Prepared {
  readonly layout: HeldLayout;
  /** Puts in front of a command what must happen first, as root. */
  wrap(command: readonly string[]): readonly string[];
}

/** Joins control groups, and stages what the user who the program becomes could not reach, or must own. */
function prepare(
  layout: HeldLayout,
  area: WorkArea,
  groups: GroupMembership | undefined,
  { keepsPaths, staged: first = [] }: LinuxBackend,
): Prepared {
  if (!isRoot) return { layout, wrap: (command) => withGroups(groups, command) };
  const staged = [...first];
  const mounts = layout.mounts.map((mount) => {
    if (mount.held === undefined && isOpenToTools(mount.source)) return mount;
    // At its own place it is a part of what is mounted there already.
    if (keepsPaths === true && staged.some((one) => isBelow(mount.source, one.place))) return mount;
    const place = keepsPaths === true ? mount.source : makePlace(area, mount, staged.length);
    staged.push({ mount, place });
    const { held: _, ...rest } = mount;
    return { ...rest, source: place };
  });
  const prelude: Prelude = { groups: groups?.files ?? [], staged, user: nextUser() };
  return { layout: { ...layout, mounts }, wrap: (command) => withPrelude(prelude, command) };
}

function withGroups(groups: GroupMembership | undefined, command: readonly string[]): readonly string[] {
  return [...toJoin(groups?.files ?? []), ...command];
}

/** An empty file or directory of the host to mount something on. Each program does so in a mount tree of its own, so all share them. */
function makePlace(area: WorkArea, { source, held }: HeldMount, index: number): string {
  const isDirectory = held?.isDirectory ?? statSync(source).isDirectory();
  const place = join(area.own, `place-${index}-${isDirectory ? "directory" : "file"}`);
  if (existsSync(place)) return place;
  if (isDirectory) makeReadableFolder(place);
  else writeReadableFile(place, "");
  return place;
}

/** Descriptors that the parent of this process left open, and that programs would inherit. */
function strayDescriptors(): number[] {
  const closesOnExec = 0o2000000;
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => descriptor > 2 && (flagsOf(descriptor) & closesOnExec) === 0);
}

function flagsOf(descriptor: number): number {
  try {
    const flags = /^flags:\s*(\d+)/mu.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
    return Number.parseInt(flags ?? "0", 8);
  } catch {
    // It was the one that read the directory.
    return 0o2000000;
  }
}

/** How one back end starts a program whose file system is laid out. */
export interface LinuxBackend {
  readonly name: SandboxName;
  readonly enforces: ReadonlySet<Guarantee>;
  /** It tells the kernel how many files there may be in private directories. @default false */
  readonly boundsFiles?: boolean;
  readonly keepsPaths?: boolean;
  /** What is mounted first where this process is root. */
  readonly staged?: Prelude["staged"];
  /** It is told paths only, so a link that a tool puts in the place of one would be followed. @default false */
  readonly takesPaths?: boolean;
  toCommand(
    profile: Profile,
    layout: HeldLayout,
    command: readonly string[],
    /** Descriptors from outside that lead to /dev/null, and need not be there at all. */
    strays: readonly number[],
  ): Pick<HostCommand, "words" | "files" | "descriptors" | "lifeline">;
}

/** Makes a sandbox of a back end: the same preparation, accounting and end for all. */
export function startIn(host: LinuxHost, backend: LinuxBackend): Sandbox {
  const running = new Set<SandboxProcess>();
  const paths = backend.takesPaths === true ? createPathGuard(backend.name) : undefined;
  return {
    name: backend.name,
    enforces: backend.enforces,
    mountsShields: true,
    ...(backend.keepsPaths === true && { keepsPaths: true }),
    async start(asked, program, input) {
      const { profile, command } = withRelay(
        { profile: withinLimit(await coverSockets(backend.name, asked)), command: program },
        host,
        backend.name,
      );
      checkWords(backend.name, profile, command);
      // What is replaced from here on may be covered or not.
      const findReplaced = noteShields(profile.mounts);
      const release = paths?.take(profile.mounts);
      const { process: started, groups } = await startLaidOut({ profile, command, input }, host, backend).catch(
        (cause: unknown) => {
          release?.();
          throw cause;
        },
      );
      const watchesFiles = backend.boundsFiles !== true;
      const exit = watch(started, { profile, findReplaced, watchesFiles, ...(groups && { groups }) });
      const ended = { ...started, exit };
      running.add(ended);
      void ended.exit.then(() => {
        running.delete(ended);
        release?.();
      });
      return ended;
    },
    async close() {
      const left = [...running];
      for (const program of left) program.kill();
      // Programs that wait for work are not held by this process, which could end before they do.
      const held = setInterval(() => {}, 1000);
      await Promise.all(left.map((program) => program.exit));
      clearInterval(held);
    },
  };
}

/** A program may have as many files open as its profile says, and as this process could. */
function withinLimit(profile: Profile): Profile {
  const { limits } = profile;
  const openFiles = Math.min(limits.openFiles, readOpenFileLimit().hard);
  return openFiles === limits.openFiles ? profile : { ...profile, limits: { ...limits, openFiles } };
}

/** A program, as a back end is asked to start it. */
interface Asked {
  readonly profile: Profile;
  readonly command: readonly string[];
  readonly input: string | Uint8Array | undefined;
}

/** Lays out the file system for a program, holds open what could be replaced until the program has it, and starts it. */
async function startLaidOut(
  { profile, command, input }: Asked,
  host: LinuxHost,
  backend: LinuxBackend,
): Promise<{ process: SandboxProcess; groups?: GroupMembership }> {
  const laidOut = await toLayout(profile, host.area);
  const mounts = holdPlaces(laidOut.mounts, profile);
  let groups: GroupMembership | undefined;
  try {
    groups = host.groups?.make(profile.limits);
    const { layout, wrap } = prepare({ ...laidOut, mounts }, host.area, groups, backend);
    const hidden = strayDescriptors();
    const plan = backend.toCommand(profile, layout, command, hidden);
    const environment = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8" };
    const process = await startProgram(
      {
        ...{ sandbox: backend.name, ...plan, words: wrap(plan.words), environment },
        ...{ directory: "/", hidden, tellsSignals: true },
      },
      host.pipes,
      input,
    );
    return { process, ...(groups && { groups }) };
  } catch (cause) {
    groups?.leave();
    throw cause;
  } finally {
    releasePlaces(mounts);
  }
}

/** Refuses what would be read as something else on its way in. */
function checkWords(
  sandbox: SandboxName,
  { mounts, environment, directory = "" }: Profile,
  command: readonly string[],
): void {
  const paths = mounts.flatMap(({ source, target }) => [source, target]);
  const words = [...Object.entries(environment).flat(), ...paths, directory, ...command];
  // Plans are words that end with a zero byte: one inside a word would begin the next.
  if (words.some((word) => word.includes("\0"))) {
    throw new KitbagError("sandbox-failed", { sandbox, reason: "a word that it was given has a NUL character" });
  }
}

interface Watched {
  readonly profile: Profile;
  readonly findReplaced: FindReplaced;
  readonly watchesFiles: boolean;
  readonly groups?: GroupMembership;
}

/** Follows a program to its end, and looks after what the kernel does not. */
async function watch(started: SandboxProcess, watched: Watched): Promise<ExitStatus> {
  const { profile, findReplaced, watchesFiles, groups } = watched;
  let isTooLarge = false;
  let replaced: string | undefined;
  const stopIt = (): void => {
    isTooLarge = true;
    started.kill();
  };
  const watches = [
    watchMemory(
      {
        pid: started.pid,
        limits: profile.limits,
        isCounted: groups !== undefined,
        isServer: profile.filter === "fork-server",
      },
      stopIt,
    ),
    ...(watchesFiles ? [watchFiles(started.pid, stopIt)] : []),
    watchShields(findReplaced, (path) => {
      replaced = path;
      started.kill();
    }),
  ];
  const status = await started.exit;
  for (const stop of watches) stop();
  const outOfMemory = groups?.leave().outOfMemory === true || isTooLarge;
  return { ...status, ...(outOfMemory && { outOfMemory }), ...(replaced !== undefined && { replaced }) };
}

/** Whether V8 runs in it, which reserves far more address space than it uses. */
export function usesNode(command: readonly string[]): boolean {
  // A relay or a tracer may come first.
  return command.includes("/opt/node");
}

/** Sets limits from inside, where the kernel counts the processes of this sandbox alone. */
export function limitWords({ limits }: Profile, command: readonly string[]): string[] {
  return [
    "prlimit",
    `--cpu=${limits.cpuSeconds}`,
    `--fsize=${limits.fileBytes}`,
    `--nproc=${limits.processes}`,
    `--nofile=${limits.openFiles}`,
    "--core=0",
    ...(usesNode(command) ? [] : [`--data=${limits.memoryBytes}`]),
    "--",
  ];
}

/** The maximum number of files that are searched for Unix sockets before a program starts. */
const mostFiles = 200_000;

/**
 * Hides the Unix sockets of the host from a program that may make its own: a program that sees one can talk to the service behind it, even
 * without the right to write. Directories that cannot be looked into are hidden as a whole. A socket that a program of the host makes
 * in a granted directory after the start is not hidden.
 *
 * @throws {KitbagError} `sandbox-failed` if there are too many files to look at
 */
async function coverSockets(sandbox: SandboxName, profile: Profile): Promise<Profile> {
  if (profile.sockets === undefined) return profile;
  const covers: Mount[] = [];
  const left = profile.mounts.filter(({ granted }) => granted === true);
  let seen = 0;
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    const { source, target } = place;
    const entries = await list(source);
    if (entries === undefined) covers.push({ source: nothing, target, shields: source });
    seen += entries?.length ?? 0;
    if (seen > mostFiles) {
      const reason = `more than ${mostFiles} files would have to be searched for Unix sockets; grant a smaller folder than ${source}, or take out sockets = "private"`;
      throw new KitbagError("sandbox-failed", { sandbox, reason });
    }
    for (const entry of entries ?? []) {
      const below = { source: join(source, entry.name), target: join(target, entry.name) };
      if (entry.isSocket()) covers.push({ source: emptyFile, target: below.target, shields: below.source });
      else if (entry.isDirectory()) left.push(below);
    }
  }
  return { ...profile, mounts: [...profile.mounts, ...covers] };
}

interface Entry {
  readonly name: string;
  isSocket(): boolean;
  isDirectory(): boolean;
}

/** What is in a directory; the file itself, without a name, if it is no directory; undefined if that cannot be seen. */
async function list(path: string): Promise<readonly Entry[] | undefined> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // It was removed in the meantime.
    if (code === "ENOENT") return [];
    if (code !== "ENOTDIR") return undefined;
    const facts = await stat(path);
    return [{ name: "", isSocket: () => facts.isSocket(), isDirectory: () => false }];
  }
}
