import { existsSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { type Duplex, type Readable, Transform } from "node:stream";

import { KitbagError } from "../../core/errors.ts";
import { openDebugSocket } from "../../sandbox/sockets.ts";
import { debugPort } from "../../sandbox/egress/relay.ts";
import type { Mount, Profile, Sandbox, SandboxProcess } from "../../sandbox/sandbox.ts";
import { openWorkFolder, type Launch, type Launcher } from "../script/launch.ts";
import { openCdpSession } from "./cdp-session.ts";
import { createSession } from "./create-session.ts";
import { openDapSession } from "./dap-session.ts";
import type { DebugSession } from "./debug-session.ts";

/** A call of a script that may be debugged. */
export interface DebuggedCall {
  /** The name of the tool. */
  readonly tool: string;
  /** The id of the call. */
  readonly call: string;
}

/** Which scripts are debugged, and by whom. */
export interface DebugOptions {
  /** Whether the script of a call shall be debugged. @default all are */
  readonly wants?: (call: DebuggedCall) => boolean;
  /** Gets each session when its script waits before the first line. Must not throw. */
  readonly onSession: (session: DebugSession, call: DebuggedCall) => void;
}

/** What the script of one call is debugged with. */
export interface DebugHost extends DebuggedCall {
  readonly sandbox: Sandbox;
  /** Where sockets are made; no other user can enter it. */
  readonly directory: string;
  readonly options: DebugOptions;
  /** The script, relative to the skill's folder. */
  readonly script: string;
  /** Takes out what must not be shown. */
  readonly show: <Value>(value: Value) => Value;
  readonly signal: AbortSignal;
}

const ownFolder = join(import.meta.dirname, "inside");
const ownTarget = "/opt/kitbag/debug";
/** How long the interpreter may take to connect. */
const patienceMs = 30_000;
/** How long a script may live on whose connection is gone. */
const graceMs = 5000;

/**
 * Starts a script that waits for its debugger, in a sandbox of its own. The process is handed on when the script is about to run
 * its first line, and `onSession` has got the session.
 */
export function debugLauncher(host: DebugHost): Launcher {
  return {
    async start(launch) {
      const language = languageOf(host, launch);
      const socket = await openDebugSocket(host.directory);
      const filled = { ...launch, profile: await openWorkFolder(host.sandbox, launch, host.directory) };
      const { profile, command } = toInside(host, filled, socket.path);
      const started = await host.sandbox.start(profile, command, launch.input ?? "");
      const stop = (): void => started.kill();
      host.signal.addEventListener("abort", stop, { once: true });
      void started.exit.then(() => {
        host.signal.removeEventListener("abort", stop);
        socket.close();
      });
      try {
        const stream = await connect(host, started, socket.connection);
        return await attach({ host, language, started, stream, profile });
      } catch (cause) {
        started.kill();
        await started.exit;
        throw cause;
      }
    },
  };
}

function languageOf({ tool }: DebugHost, { interpreter }: Launch): DebugSession["language"] {
  const { family } = interpreter;
  if ((family === "node" || family === "python") && interpreter.isScript !== true) return family;
  throw new KitbagError("debug-failed", { tool, reason: "only scripts of Node and Python can be debugged" });
}

function toInside(host: DebugHost, launch: Launch, socket: string): { profile: Profile; command: readonly string[] } {
  const { interpreter, argv, env } = launch;
  const isPython = interpreter.family === "python";
  const isRelayed = host.sandbox.enforces.has("sockets");
  const place = isRelayed ? String(debugPort) : socket;
  const own: Mount[] = [{ source: ownFolder, target: ownTarget }, ...(isPython ? findDebugpy() : [])];
  const profile: Profile = {
    ...launch.profile,
    mounts: [...launch.profile.mounts, ...own],
    environment: { ...launch.profile.environment, ...env },
    ...(isRelayed && { debug: socket }),
  };
  const bridge = `${ownTarget}/bridge${extname(import.meta.filename)}`;
  const { program } = interpreter;
  const folder = host.sandbox.name === "off" ? "/usr/lib/python3/dist-packages" : debugpyTarget;
  const command = isPython
    ? [program, ...interpreter.argv, `${ownTarget}/attach.py`, place, folder, ...argv]
    : [program, bridge, place, program, ...interpreter.argv, ...argv];
  return { profile, command };
}

async function connect(host: DebugHost, started: SandboxProcess, connection: Promise<Duplex>): Promise<Duplex> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), patienceMs);
  const first = await Promise.race([connection, late, started.exit.then(() => undefined)]);
  clearTimeout(timer);
  host.signal.throwIfAborted();
  if (first !== undefined) return first;
  throw new KitbagError("debug-failed", {
    tool: host.tool,
    reason: "the interpreter ended before the debugger was ready",
  });
}

interface Attachment {
  readonly host: DebugHost;
  readonly language: DebugSession["language"];
  readonly started: SandboxProcess;
  readonly stream: Duplex;
  readonly profile: Profile;
}

async function attach({ host, language, started, stream, profile }: Attachment): Promise<SandboxProcess> {
  const { tool, call, script, show, sandbox, options } = host;
  const folder = profile.mounts.find(({ target }) => target === "/skill")?.source ?? "";
  const session = createSession({
    ...{ tool, script, show, folder, language, root: sandbox.name === "off" ? folder : "/skill" },
    open: (target) => (language === "node" ? openCdpSession(stream, target) : openDapSession(stream, target)),
    kill: () => started.kill(),
  });
  // A script that breaks the connection does not run on unseen.
  stream.once("close", () => {
    const timer = setTimeout(session.lose, graceMs);
    void started.exit.then(() => clearTimeout(timer));
  });
  void started.exit.then(session.end);
  await session.ready;
  host.signal.throwIfAborted();
  options.onSession(session.session, { tool, call });
  session.begin();
  return {
    ...started,
    stdout: listenTo(started.stdout, (text) => session.print("stdout", text)),
    stderr: listenTo(language === "node" ? withoutNotes(started.stderr) : started.stderr, (text) =>
      session.print("stderr", text),
    ),
  };
}

/** Where the system keeps packages for its own Python. */
const systemPackages = "/usr/lib/python3/dist-packages";
/** Where debugpy is inside, for a Python that has none. */
const debugpyTarget = "/opt/kitbag/debugpy";

const parts = /^(?:debugpy|_?pydev\w*)(?:\.py)?$/u;

/** What must be inside so that any Python finds the debugpy of the system. Nothing, if the system has no debugpy. */
function findDebugpy(directory = systemPackages): readonly Mount[] {
  if (!existsSync(join(directory, "debugpy"))) return [];
  return readdirSync(directory)
    .filter((name) => parts.test(name))
    .map((name) => ({ source: join(directory, name), target: `${debugpyTarget}/${name}` }));
}

/** What Node itself says on standard error when it is debugged. */
const notes = ["Debugger attached.\n", "Waiting for the debugger to disconnect...\n"];

/** The same stream; `onText` hears what passes. */
function listenTo(stream: Readable, onText: (text: string) => void): Readable {
  const decoder = new TextDecoder();
  const tell = (text: string): void => {
    if (text !== "") onText(text);
  };
  return chain(
    stream,
    new Transform({
      transform(piece: Buffer, _encoding, done) {
        tell(decoder.decode(piece, { stream: true }));
        done(null, piece);
      },
      flush(done) {
        tell(decoder.decode());
        done();
      },
    }),
  );
}

/** Takes out what Node says about its debugger; the rest passes as it is. */
function withoutNotes(stream: Readable): Readable {
  return chain(
    stream,
    new Transform({
      transform(piece: Buffer, _encoding, done) {
        // Node writes each of them at once.
        let text = piece.toString("latin1");
        for (const note of notes) text = text.replace(note, "");
        done(null, Buffer.from(text, "latin1"));
      },
    }),
  );
}

function chain(stream: Readable, transform: Transform): Readable {
  const end = (): void => {
    if (!transform.writableEnded) transform.end();
  };
  for (const event of ["end", "close", "error"]) stream.once(event, end);
  transform.once("close", () => stream.destroy());
  stream.pipe(transform, { end: false });
  return transform;
}
