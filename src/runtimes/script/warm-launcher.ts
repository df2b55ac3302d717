import { usesNode } from "../../sandbox/backends/linux.ts";
import { identifyPlaces } from "../../sandbox/hold-places.ts";
import type { Sandbox, SandboxProcess } from "../../sandbox/sandbox.ts";
import {
  startForkServer,
  type ForkOrder,
  type ForkServer,
  type ForkServerOptions,
} from "../../sandbox/warm/fork-server.ts";
import { createShelf, type ShelfOptions, startSlot, type Slot, type SlotKind } from "../../sandbox/warm/shelf.ts";
import { coldLauncher, type Launch, type Launcher } from "./launch.ts";

/** A launcher that keeps interpreters ready, and gives them back when it is closed. */
export interface WarmLauncher extends Launcher {
  /** Begins to make ready what the first call of such a script needs. Nothing of the script runs. */
  prepare(launch: Launch): void;
  /** How many interpreters wait for a call. */
  readonly waiting: number;
  close(): void;
}

/** How interpreters are kept ready. */
export interface WarmOptions extends ShelfOptions {
  /** Where the streams of calls are made; no other user can enter it. */
  readonly directory: string;
}

/** The shell that waits reads its order byte by byte; a longer one is faster with a start of its own. */
const longestOrder = 4096;
/** The shell that waits cannot hand these on as they are: it uses them itself, or they are no names to it. */
const namesOfShell = new Set(
  `_ COPROC DIRSTACK EUID FUNCNAME GROUPS HISTCMD HOSTTYPE IFS LANG LINENO MACHTYPE MAPFILE OLDPWD OSTYPE PIPESTATUS
  POSIXLY_CORRECT PPID PWD RANDOM REPLY SECONDS SHELLOPTS SHLVL SRANDOM UID`.split(/\s+/u),
);
const namesForShell = /^(?!kitbag_|BASH|COMP_|EPOCH|LC_|OPT|READLINE_)[A-Za-z_]\w*$/u;
/** A server is replaced after so many scripts, so that no two of different times share its memory layout for long. */
const scriptsAServer = 500;

/**
 * Starts scripts in sandboxes that are already there, with an interpreter that waits: for Python a server that forks, for others a
 * slot that is used once. The first call of a kind, and whatever cannot wait, starts cold.
 */
export function warmLauncher(sandbox: Sandbox, options: WarmOptions): WarmLauncher {
  const cold = coldLauncher(sandbox, options.directory);
  const slots = createShelf<Slot>(options);
  const servers = createServers(sandbox, options);
  return {
    async start(launch) {
      // The sockets that a program must not see are looked for when its sandbox is made.
      const isFresh = launch.profile.sockets !== undefined || launch.debug !== undefined || launch.isOnce === true;
      if (sandbox.keepsPaths === true || isFresh) return cold.start(launch);
      const warm = isForkable(launch) ? servers.start(launch) : startInSlot(launch);
      return (await warm) ?? cold.start(launch);
    },
    prepare(launch) {
      if (sandbox.keepsPaths === true || launch.profile.sockets !== undefined) return;
      if (isForkable(launch)) return servers.prepare(launch);
      const slot = toSlot(launch);
      if (slot !== undefined) slots.prepare(slot.key, slot.make);
    },
    get waiting() {
      return slots.size + servers.waiting;
    },
    close() {
      slots.close();
      servers.close();
    },
  };

  function toSlot(launch: Launch): { kind: SlotKind; key: string; make: () => Promise<Slot> } | undefined {
    const kind = toSlotKind(launch);
    if (kind === undefined) return undefined;
    const { profile, interpreter, fill } = launch;
    const { directory } = options;
    const spec = { kind, argv: kind === "node" ? interpreter.argv : [], ...(fill !== undefined && { directory }) };
    const key = JSON.stringify([spec, profile, identifyPlaces(profile.mounts)]);
    return { kind, key, make: () => startSlot(sandbox, profile, spec) };
  }

  function startInSlot(launch: Launch): Promise<SandboxProcess> | undefined {
    const found = toSlot(launch);
    if (found === undefined) return undefined;
    const { kind, key, make } = found;
    const { interpreter, argv } = launch;
    const slot = slots.take(key, make);
    const words = kind === "node" ? argv : [interpreter.program, ...interpreter.argv, ...argv];
    return slot?.run({ ...toOrder(launch), argv: words });
  }
}

/** Calls with a way out share none: the relay of one could be used, or taken, by another. */
function isForkable({ interpreter, profile }: Launch): boolean {
  if (profile.egress !== undefined) return false;
  return interpreter.family === "python" && interpreter.argv.length === 0 && interpreter.isScript !== true;
}

function toSlotKind({ interpreter, argv, env }: Launch): SlotKind | undefined {
  const isPlain = interpreter.argv.length === 0 && interpreter.isScript !== true;
  const [option] = interpreter.argv;
  if (interpreter.family === "node") return isPlain || option === "--require" ? "node" : undefined;
  // What waits has a limit that Node does not run with.
  if (usesNode([interpreter.program])) return undefined;
  const words = [...argv, ...Object.entries(env).flat()];
  const canWait = words.join(" ").length <= longestOrder && Object.keys(env).every(canExport);
  return canWait ? "program" : undefined;
}

function canExport(name: string): boolean {
  return namesForShell.test(name) && !namesOfShell.has(name);
}

interface Servers {
  start(launch: Launch): Promise<SandboxProcess | undefined>;
  prepare(launch: Launch): void;
  readonly waiting: number;
  close(): void;
}

/** One server for each profile, as long as it is used. */
function createServers(sandbox: Sandbox, { directory, most = 12, idleMs = 60_000 }: WarmOptions): Servers {
  const shelf = createShelf<ForkServer>({ mostOfAKind: 1, most, idleMs });
  const current = new Map<string, { readonly server: ForkServer; served: number; usedAt: number }>();
  const retireIdle = (): void => {
    for (const [key, entry] of current) if (performance.now() - entry.usedAt > idleMs) retire(key);
  };
  const cleaner = setInterval(retireIdle, Math.max(idleMs / 4, 10)).unref();

  function retire(key: string, server = current.get(key)?.server): undefined {
    if (server === undefined || current.get(key)?.server !== server) return;
    current.delete(key);
    closeWhenIdle(server);
  }

  function takeServer(key: string, launch: Launch): ForkServer | undefined {
    const entry = current.get(key);
    if (entry !== undefined && entry.served < scriptsAServer) {
      entry.served++;
      entry.usedAt = performance.now();
      return entry.server;
    }
    const server = shelf.take(key, () => startForkServer(toServerOptions(sandbox, launch, directory)));
    if (server === undefined) return entry?.server;
    retire(key);
    const [longestUnused] = [...current].toSorted(([, one], [, other]) => one.usedAt - other.usedAt);
    if (longestUnused !== undefined && current.size >= most) retire(longestUnused[0]);
    current.set(key, { server, served: 1, usedAt: performance.now() });
    void server.ended.then(() => {
      if (current.get(key)?.server === server) current.delete(key);
    });
    return server;
  }

  return {
    async start(launch) {
      const key = toKey(launch);
      const server = takeServer(key, launch);
      // One that fails has not run anything of the script, and would fail the next one as well.
      return server?.start(toOrder(launch)).catch(() => retire(key, server));
    },
    prepare(launch) {
      const key = toKey(launch);
      if (!current.has(key)) shelf.prepare(key, () => startReadyServer(toServerOptions(sandbox, launch, directory)));
    },
    get waiting() {
      return shelf.size + current.size;
    },
    close() {
      clearInterval(cleaner);
      shelf.close();
      for (const { server } of current.values()) server.close();
    },
  };
}

/** Starts a server in which a child waits for the first script. */
async function startReadyServer(options: ForkServerOptions): Promise<ForkServer> {
  const server = await startForkServer(options);
  server.prepare();
  return server;
}

/** Launches with the same key may share a server. */
function toKey({ profile, interpreter, fill }: Launch): string {
  return JSON.stringify([profile, interpreter.program, fill !== undefined, identifyPlaces(profile.mounts)]);
}

function toServerOptions(sandbox: Sandbox, launch: Launch, directory: string): ForkServerOptions {
  const { profile, interpreter, fill } = launch;
  return { sandbox, profile, program: interpreter.program, directory, hasFolders: fill !== undefined };
}

function toOrder({ argv, env, input, fill }: Launch): ForkOrder {
  return { argv, environment: env, ...(input !== undefined && { input }), ...(fill !== undefined && { fill }) };
}

function closeWhenIdle(server: ForkServer): void {
  const check = setInterval(() => {
    if (server.running > 0) return;
    clearInterval(check);
    server.close();
  }, 50);
  check.unref();
}
