import { closeSync, fdatasync, fdatasyncSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";

import { createFileAtomically, writeFileAtomically } from "../../platform/files.ts";
import { makeHomeFolder } from "../../platform/home.ts";
import type { AuditHead } from "./audit-entry.ts";
import type { AuditKeys } from "./audit-keys.ts";

/** The second place that the head of the chain is kept in. */
export interface Anchor {
  /**
   * Writes a head to the file. Readers see it at once; the sync to disk follows soon after.
   *
   * @throws what was wrong with the disk since the last time
   */
  write(head: AuditHead): void;
  /** The larger of `count` and the number of entries in the newest head of the file, whichever process wrote that head. */
  reach(count: number): number;
  /** Closes the file when everything is on disk. */
  close(): Promise<void>;
}

/** How long a head waits at most until it is written to the disk. */
const syncMs = 100;

/** How many heads the file keeps. Each has a line of its own, so a crash while one is written damages only that line. */
const lineCount = 64;
const lineBytes = 128;

/** The newest head in the file; `undefined` if there is no file; `"foreign"` if nothing in it was made with the key. */
export function readAnchor(file: string, keys: AuditKeys): AuditHead | "foreign" | undefined {
  let text: string;
  try {
    text = readFileSync(file, "latin1");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cause;
  }
  const heads = text.split("\n").flatMap((line) => fromLine(line, keys) ?? []);
  const [first = "foreign", ...others] = heads;
  return others.reduce<AuditHead | "foreign">((newest, head) => (isNewer(head, newest) ? head : newest), first);
}

function isNewer(head: AuditHead, other: AuditHead | "foreign"): boolean {
  return other === "foreign" || head.count > other.count;
}

/**
 * Writes a file that knows this head alone. One that is there is replaced only if `replace` is said: another process may have made
 * it at the same time, and write to it.
 */
export function makeAnchorFile(
  file: string,
  keys: AuditKeys,
  head: AuditHead,
  { replace = false }: { readonly replace?: boolean } = {},
): void {
  makeHomeFolder(dirname(file));
  if (replace) writeFileAtomically(file, toText(head, keys));
  else createFileAtomically(file, toText(head, keys));
}

function toText(head: AuditHead, keys: AuditKeys): string {
  const empty = `${" ".repeat(lineBytes - 1)}\n`;
  return Array.from({ length: lineCount }, (_, index) =>
    index === head.count % lineCount ? toLine(head, keys) : empty,
  ).join("");
}

/**
 * Opens the file for writing. Several processes may: each head has its own line, by its count, and an older one never takes the
 * place of a newer one.
 */
export function openAnchor(file: string, keys: AuditKeys): Anchor {
  const descriptor = openSync(file, "r+");
  const syncs = createSyncs(descriptor);

  function writeLine(head: AuditHead): void {
    const offset = (head.count % lineCount) * lineBytes;
    const there = Buffer.alloc(lineBytes);
    readSync(descriptor, there, 0, lineBytes, offset);
    const known = fromLine(there.toString("latin1"), keys);
    if (known === undefined || known.count < head.count) {
      writeSync(descriptor, toLine(head, keys), offset, "latin1");
    }
  }

  return {
    write(head) {
      syncs.check();
      writeLine(head);
      syncs.request();
    },
    reach(count) {
      const text = Buffer.alloc(lineCount * lineBytes);
      readSync(descriptor, text, 0, text.length, 0);
      const lines = text.toString("latin1").split("\n");
      // Most are older, and need not be checked.
      const further = lines.filter((line) => Number.parseInt(line, 10) > count);
      return Math.max(count, ...further.map((line) => fromLine(line, keys)?.count ?? 0));
    },
    async close() {
      try {
        await syncs.finish();
      } finally {
        closeSync(descriptor);
      }
    },
  };
}

interface Syncs {
  /** Throws what went wrong since it was asked last. */
  check(): void;
  request(): void;
  finish(): Promise<void>;
}

/**
 * Syncs a file in the background, a moment after a request: requests that arrive meanwhile share the sync. Only one sync runs at a
 * time, so that a slow disk does not block other work. A process that ends normally ends after the sync.
 */
function createSyncs(descriptor: number): Syncs {
  let timer: NodeJS.Timeout | undefined;
  let going: Promise<void> | undefined;
  let isAsked = false;
  let failure: Error | null = null;

  function sync(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    timer = undefined;
    isAsked = false;
    going = promise;
    fdatasync(descriptor, (cause) => {
      failure ??= cause;
      going = undefined;
      if (isAsked) timer = setTimeout(sync, syncMs);
      resolve();
    });
  }

  function check(): void {
    const found = failure;
    failure = null;
    if (found) throw found;
  }

  return {
    check,
    request() {
      isAsked = true;
      if (going === undefined) timer ??= setTimeout(sync, syncMs);
    },
    async finish() {
      await going;
      clearTimeout(timer);
      if (isAsked) fdatasyncSync(descriptor);
      check();
    },
  };
}

function toLine(head: AuditHead, keys: AuditKeys): string {
  return `${`${head.count} ${head.hash} ${sealOf(head, keys)}`.padEnd(lineBytes - 1)}\n`;
}

function fromLine(line: string, keys: AuditKeys): AuditHead | undefined {
  const [count = "", hash = "", seal] = line.trim().split(" ");
  const head = { count: Number(count), hash };
  return Number.isSafeInteger(head.count) && seal === sealOf(head, keys) ? head : undefined;
}

/** Seals a head: a process without the key cannot put a different head into the file. */
function sealOf({ count, hash }: AuditHead, keys: AuditKeys): string {
  return keys.anchor(`${count} ${hash}`).slice(0, 32);
}
