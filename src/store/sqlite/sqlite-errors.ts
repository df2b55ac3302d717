import { KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";

interface Cure {
  readonly reason: string;
  readonly cure: string;
}

/** Primary codes of SQLite that we tell apart, or give ourselves. */
const codes = { busy: 5, readOnly: 8, io: 10, corrupt: 11 } as const;

/** `SQLITE_IOERR_SHMSIZE`: in practice there was no space for the index of the write-ahead log. */
const noSpaceForIndex = 4874;

const full: Cure = { reason: "the disk is full", cure: "free some space and try again" };
const damaged: Cure = {
  reason: "the file is damaged, or is no database",
  cure: "see what can be saved of it: kitbag store check --store sqlite:FILE",
};
const notAllowed: Cure = {
  reason: "the file or its folder may not be written",
  cure: "change the permissions, or keep the store elsewhere",
};

const cannotOpen: Cure = {
  reason: "the file cannot be opened",
  cure: "check that its folder exists and may be read and written",
};

/** By the primary code of SQLite. */
const cures: Readonly<Record<number, Cure>> = {
  5: { reason: "another process has locked it for longer than 5 s", cure: "end that process, or try again later" },
  8: notAllowed,
  11: damaged,
  13: full,
  14: cannotOpen,
  18: { reason: "a value is too large for it", cure: "keep large values in blobs" },
  23: notAllowed,
  26: damaged,
};

/** By the code of the operating system. */
const systemCures: Readonly<Record<string, Cure>> = {
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: notAllowed,
  ENOSPC: full,
  EDQUOT: full,
  ENOTDIR: { reason: "a part of its path is not a folder", cure: "give another path" },
  EEXIST: { reason: "a part of its path is not a folder", cure: "give another path" },
  EISDIR: { reason: "it is a folder", cure: "give the path of a file" },
  ENAMETOOLONG: { reason: "its path is too long", cure: "give another path" },
};

/** Makes an error like those of SQLite, for what we found out ourselves. */
export function sqliteError(kind: keyof typeof codes, message: string, options?: ErrorOptions): Error {
  return Object.assign(new Error(message, options), { errcode: codes[kind] });
}

/** The primary code of an error of SQLite; `undefined` for any other error. */
function sqliteCode(cause: unknown): number | undefined {
  const code = extendedCode(cause);
  return code === undefined ? undefined : code & 0xff;
}

/** Tells whether granting file permissions can cure the error. */
export function isNotAllowed(cause: unknown): boolean {
  return [notAllowed, cannotOpen].some((cure) => cure === findCure(cause));
}

/** Tells whether what is in the file is wrong. */
export function isDamage(cause: unknown): boolean {
  return findCure(cause) === damaged;
}

/** Tells whether another connection has the lock. */
export function isBusy(cause: unknown): boolean {
  return sqliteCode(cause) === codes.busy;
}

/** Tells whether the disk failed, so that it is unknown what was written. */
export function isIoError(cause: unknown): boolean {
  return sqliteCode(cause) === codes.io;
}

/**
 * Says what went wrong with the file, and what helps. What is no failure of SQLite or of the file system is a mistake of ours and
 * stays as it is.
 */
export function toUnavailable(file: string, cause: unknown, mayBeWritten = false): unknown {
  const found = findCure(cause);
  if (!found) return cause;
  const cure = found.cure.replaceAll("sqlite:FILE", () => `sqlite:${file}`);
  return new KitbagError("store-unavailable", { store: file, reason: found.reason, cure, mayBeWritten }, { cause });
}

function findCure(cause: unknown): Cure | undefined {
  const code = extendedCode(cause);
  if (code === noSpaceForIndex) return full;
  if (code !== undefined) return cures[code & 0xff] ?? describe(cause, code);
  const system = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (system in systemCures) return systemCures[system];
  return /^E[A-Z0-9]+$/.test(system) ? describe(cause, system) : undefined;
}

function describe(cause: unknown, code: number | string): Cure {
  const what = cause instanceof Error ? cause.message : String(cause);
  return { reason: `${what} (${code})`, cure: "check the disk, and try again" };
}

function extendedCode(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || !("errcode" in cause)) return undefined;
  return typeof cause.errcode === "number" ? cause.errcode : undefined;
}

/** Reads a value that is in the file. What is not JSON was not written by us: the file is damaged. */
export function parseKept(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw sqliteError("corrupt", "a value is not JSON", { cause });
  }
}

/** How long to wait for a lock of another connection. */
export const longestBusyMs = 5000;

/** How long to wait before the next try: by chance, so that several processes do not meet again and again. */
export function toPauseMs(tries: number): number {
  return Math.random() * Math.min(2 ** Math.min(tries, 5), 20) + 0.5;
}

/** Repeats `run` while another connection has the lock. SQLite itself never waits for the lock, so the process is not blocked. */
export async function retryWhileBusy<Value>(run: () => Value | Promise<Value>): Promise<Value> {
  const start = performance.now();
  for (let tries = 0; ; tries++) {
    try {
      return await run();
    } catch (cause) {
      if (!isBusy(cause) || performance.now() - start > longestBusyMs) throw cause;
    }
    await pause(toPauseMs(tries));
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
