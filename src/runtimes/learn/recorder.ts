import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { egressEnvironment } from "../../sandbox/egress/environment.ts";
import { openEgress, type Egress } from "../../sandbox/egress/open-egress.ts";
import type { FoundSandbox } from "../../sandbox/find-sandbox.ts";
import { makeReadableFolder } from "../../sandbox/readable-files.ts";
import { nothing, type Mount, type Profile } from "../../sandbox/sandbox.ts";
import { coldLauncher, type Launch, type Launcher } from "../script/launch.ts";
import type { Family } from "../script/families.ts";
import type { LearnReport } from "./learn-report.ts";
import type { Observation } from "./observation.ts";
import { parseRecords } from "./parse-records.ts";
import { parseTrace } from "./parse-trace.ts";

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
      // Whoever sees how each start of a program ended knows better than a hook.
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
