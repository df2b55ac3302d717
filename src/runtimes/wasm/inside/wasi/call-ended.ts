import type { CallEnd } from "../wire/messages.ts";

/** Thrown through a module to end it. */
export class CallEnded extends Error {
  readonly end: CallEnd;

  constructor(end: CallEnd) {
    super(end.kind);
    this.end = end;
  }
}
