import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";

import { KitbagError } from "../../core/errors.ts";
import { toEnvironment } from "../layout.ts";
import type { Mount, Profile, Sandbox, SandboxProcess } from "../sandbox.ts";
import { fillOrEnd, makeWorkFolder, toWorkMounts, type FillFolder } from "../work-folder.ts";
import { removeTree } from "../work-area.ts";

/** How long a call that runs holds back the making of what the next one needs. */
const longestRestMs = 100;
/** As long as the end of a call is likely to be dealt with. */
const shortestRestMs = 5;

/** Something that was made ahead and waits to be used. */
export interface Waiting {
  /** Resolves when it is gone. */
  readonly ended: Promise<unknown>;
  close(): void;
}

/** How much is kept ready. */
export interface ShelfOptions {
  /** As many of one kind as wait at most. @default 4 */
  readonly mostOfAKind?: number;
  /** As many as wait at most, of all kinds together. @default 12 */
  readonly most?: number;
  /** After so long without use nothing is kept. @default 60_000 */
  readonly idleMs?: number;
}

/**
 * Keeps things ready that take long to make: as many of a kind as were needed at once, and none that are no longer used.
 */
interface Shelf<Item extends Waiting> {
  /** One that waits, or nothing; either way the next one is being made. */
  take(kind: string, make: () => Promise<Item>): Item | undefined;
  /** Begins to make one, so that the first of its kind is ready; nothing if one is, or is being made. */
  prepare(kind: string, make: () => Promise<Item>): void;
  /** How many wait. */
  readonly size: number;
  close(): void;
}

interface Row<Item> {
  readonly ready: Set<Item>;
  making: number;
  wanted: number;
  /** How often in a row making one failed. */
  failures: number;
  usedAt: number;
}

/** Kinds that cannot be made are not tried for ever. */
const mostFailures = 3;

interface Room<Item> {
  readonly rows: Map<string, Row<Item>>;
  readonly most: number;
  isClosed: boolean;
}

/** Makes an empty shelf. */
export function createShelf<Item extends Waiting>(options: ShelfOptions = {}): Shelf<Item> {
  const { mostOfAKind = 4, most = 12, idleMs = 60_000 } = options;
  const room: Room<Item> = { rows: new Map(), most, isClosed: false };
  const cleaner = setInterval(() => dropIdle(room, idleMs), Math.max(idleMs / 4, 10));
  cleaner.unref();
  return {
    take(kind, make) {
      const row = rowOf(room, kind);
      row.usedAt = performance.now();
      const [item] = row.ready;
      if (item === undefined) row.wanted = Math.min(row.wanted + 1, mostOfAKind);
      else row.ready.delete(item);
      void rest(item).then(() => refill(room, row, make));
      return item;
    },
    prepare(kind, make) {
      const row = rowOf(room, kind);
      row.usedAt = performance.now();
      row.wanted = Math.max(row.wanted, 1);
      refill(room, row, make);
    },
    get size() {
      return countReady(room);
    },
    close() {
      room.isClosed = true;
      clearInterval(cleaner);
      for (const row of room.rows.values()) empty(row);
    },
  };
}

/** Making the next one would slow down the call that has just taken one, so it waits until that call is over. */
async function rest(taken: Waiting | undefined): Promise<void> {
  const longest = wait(longestRestMs, undefined, { ref: false });
  await (taken === undefined ? longest : Promise.race([longest, taken.ended]));
  await wait(shortestRestMs, undefined, { ref: false });
}

function rowOf<Item>({ rows }: Room<Item>, kind: string): Row<Item> {
  let row = rows.get(kind);
  if (row === undefined) rows.set(kind, (row = { ready: new Set(), making: 0, wanted: 0, failures: 0, usedAt: 0 }));
  return row;
}

function refill<Item extends Waiting>(room: Room<Item>, row: Row<Item>, make: () => Promise<Item>): void {
  if (room.isClosed || row.failures >= mostFailures) return;
  for (let missing = row.wanted - row.ready.size - row.making; missing > 0; missing--) {
    makeRoom(room, row);
    row.making++;
    void make().then(
      (item) => put(room, row, { item, make }),
      () => {
        row.making--;
        row.failures++;
      },
    );
  }
}

interface Made<Item> {
  readonly item: Item;
  readonly make: () => Promise<Item>;
}

function put<Item extends Waiting>(room: Room<Item>, row: Row<Item>, { item, make }: Made<Item>): void {
  row.making--;
  row.failures = 0;
  if (room.isClosed || row.wanted === 0) return item.close();
  // Others may have become ready while it was made.
  makeRoom(room, row);
  if (countReady(room) >= room.most) return item.close();
  row.ready.add(item);
  void item.ended.then(() => {
    // It died while it waited.
    if (row.ready.delete(item)) refill(room, row, make);
  });
}

/** What was not used for longest goes first. */
function makeRoom<Item extends Waiting>(room: Room<Item>, keep: Row<Item>): void {
  const others = [...room.rows.values()].filter((row) => row !== keep && row.ready.size > 0);
  const oldest = others.toSorted((one, other) => one.usedAt - other.usedAt)[0];
  if (oldest !== undefined && countReady(room) >= room.most) empty(oldest);
}

function dropIdle<Item extends Waiting>({ rows }: Room<Item>, idleMs: number): void {
  for (const [kind, row] of rows) {
    if (performance.now() - row.usedAt < idleMs) continue;
    empty(row);
    if (row.making === 0) rows.delete(kind);
  }
}

function empty<Item extends Waiting>(row: Row<Item>): void {
  row.wanted = 0;
  const items = [...row.ready];
  row.ready.clear();
  for (const item of items) item.close();
}

function countReady<Item>({ rows }: Room<Item>): number {
  return [...rows.values()].reduce((sum, row) => sum + row.ready.size, 0);
}

/** What runs in a slot. */
interface SlotOrder {
  /** Puts files into the private folder of the call, before anything of the script runs. */
  readonly fill?: FillFolder;
  /** The script and its arguments for the Node that waits; else the program and its arguments. */
  readonly argv: readonly string[];
  /** Environment variables of this script, beside those of the profile. */
  readonly environment: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
}

/** What waits in a slot: Node, or a shell that becomes the program. */
export type SlotKind = "node" | "program";

/** What waits in a slot. */
interface SlotSpec {
  readonly kind: SlotKind;
  /** First arguments of the interpreter. */
  readonly argv: readonly string[];
  /** Where its private folder is made. @default it has no private folder */
  readonly directory?: string;
}

/** A sandbox with an interpreter that waits for the one script it will run. */
export interface Slot {
  /** Runs the script; once. */
  run(order: SlotOrder): Promise<SandboxProcess>;
  /** Resolves when it is gone. */
  readonly ended: Promise<unknown>;
  close(): void;
}

const launchers: Record<SlotKind, { readonly program: string; readonly file: string }> = {
  node: { program: "/opt/node", file: "launch.cjs" },
  program: { program: "bash", file: "launch.sh" },
};

/** Starts a slot, and waits until its interpreter is there. */
export async function startSlot(sandbox: Sandbox, profile: Profile, spec: SlotSpec): Promise<Slot> {
  const { kind, argv, directory } = spec;
  const { program, file } = launchers[kind];
  const inside = `/opt/kitbag/warm/${file}`;
  const folder = directory === undefined ? undefined : makeWorkFolder(directory, profile);
  const own: Mount[] = [{ source: join(import.meta.dirname, "inside", file), target: inside }];
  if (folder !== undefined) own.push(...toWorkMounts(folder, profile));
  const waiting = await sandbox.start({ ...profile, mounts: [...profile.mounts, ...own] }, [program, ...argv, inside]);
  let isTaken = false;
  void waiting.exit.then(() => (folder === undefined || isTaken ? undefined : removeTree(folder.root)));
  const isReady = await Promise.race([waitForLine(waiting), waiting.exit.then(() => false)]);
  if (!isReady) {
    const complaint = (await text(waiting.stderr)).trim();
    throw new KitbagError("sandbox-failed", { sandbox: sandbox.name, reason: complaint.slice(-500) });
  }
  waiting.setHeld(false);
  return {
    async run(order) {
      isTaken = true;
      waiting.setHeld(true);
      if (folder !== undefined) await fillOrEnd(folder, order.fill ?? (async () => {}), waiting.kill);
      waiting.fillInput(order.input ?? "");
      waiting.channel.write(kind === "node" ? toLine(profile, order) : toWords(profile, order));
      return waiting;
    },
    ended: waiting.exit,
    close: () => waiting.kill(),
  };
}

/** The first line says that the interpreter waits; nothing comes after it before the script runs. */
function waitForLine({ channel }: SandboxProcess): Promise<boolean> {
  return new Promise((resolve) => {
    channel.on("readable", function read() {
      // It can be told of something to read before there is anything.
      if (channel.read() === null) return;
      channel.off("readable", read);
      resolve(true);
    });
  });
}

function toLine(profile: Profile, { argv, environment }: SlotOrder): string {
  const all = { ...toEnvironment(profile), ...environment };
  return `${JSON.stringify({ directory: profile.directory ?? "/tmp", environment: all, argv })}\n`;
}

function toWords(profile: Profile, { argv, environment }: SlotOrder): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const words = [profile.directory ?? "/tmp", String(variables.length), ...variables, String(argv.length), ...argv];
  return words.map((word) => `${word}\0`).join("");
}
