import type { CallEnd } from "../wire/messages.ts";

/** The numbers of WASI's errors. */
export const errno = {
  acces: 2,
  again: 6,
  badf: 8,
  busy: 10,
  exist: 20,
  fault: 21,
  fbig: 22,
  ilseq: 25,
  inval: 28,
  io: 29,
  isdir: 31,
  loop: 32,
  mfile: 33,
  mlink: 34,
  nametoolong: 37,
  nfile: 41,
  noent: 44,
  nomem: 48,
  nospc: 51,
  nosys: 52,
  notdir: 54,
  notempty: 55,
  notsup: 58,
  nxio: 60,
  perm: 63,
  range: 68,
  rofs: 69,
  spipe: 70,
  txtbsy: 74,
  xdev: 75,
  notcapable: 76,
} as const;

/** The name of an error of WASI. */
export type ErrnoName = keyof typeof errno;

/** An error that a module is told as a number. */
export class WasiError extends Error {
  readonly errno: number;

  constructor(name: ErrnoName) {
    super(name);
    this.errno = errno[name];
  }
}

/** The number of the error that says what was thrown: by us, by the file system, or by reading outside the module's memory. */
export function toErrno(cause: unknown): number {
  if (cause instanceof WasiError) return cause.errno;
  if (cause instanceof RangeError) return errno.fault;
  if (cause instanceof TypeError) return errno.inval;
  if (!(cause instanceof Error) || !("syscall" in cause) || !("code" in cause)) throw cause;
  const name = String(cause.code).slice(1).toLowerCase();
  return Object.hasOwn(errno, name) ? errno[name as ErrnoName] : errno.io;
}

/** Thrown through a module to end it. */
export class CallEnded extends Error {
  readonly end: CallEnd;

  constructor(end: CallEnd) {
    super(end.kind);
    this.end = end;
  }
}
