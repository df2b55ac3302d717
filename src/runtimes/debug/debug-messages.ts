import type { Duplex } from "node:stream";

import { createLineSplitter } from "../../platform/lines.ts";

/** A message, as it comes: nothing in it can be relied on. */
export type Message = Readonly<Record<string, unknown>>;

/** Messages to and from a debugger. */
export interface DebugMessages {
  send(message: Message): void;
  /** Called once, when there will be no more. */
  onEnd(listener: () => void): void;
}

/** Longer ones end the connection: the script itself may write to it. */
const longestMessage = 16 * 1024 * 1024;

/** Lines of JSON. */
export function openLines(stream: Duplex, onMessage: (message: Message) => void): DebugMessages {
  const { push } = createLineSplitter({
    maxBytes: longestMessage,
    onLine: (line) => hear(line.toString("utf8"), onMessage),
    onTooLong: refuseLength,
  });
  return open(stream, push, (json) => `${json}\n`);
}

/** JSON with a header that says how long it is, as the Debug Adapter Protocol has it. */
export function openFrames(stream: Duplex, onMessage: (message: Message) => void): DebugMessages {
  let held: Buffer[] = [];
  let size = 0;
  /** The length of the first message with its header, once that is there. */
  let needed = 0;

  function push(piece: Buffer): void {
    held.push(piece);
    size += piece.length;
    if (size < needed) return;
    let bytes = Buffer.concat(held);
    for (needed = 0; ; needed = 0) {
      const end = bytes.indexOf("\r\n\r\n");
      if (end === -1) break;
      const digits = /content-length:\s*(\d{1,9})/iu.exec(bytes.toString("latin1", 0, end))?.[1];
      if (digits === undefined) throw new RangeError("a message does not say how long it is");
      needed = end + 4 + Number(digits);
      if (bytes.length < needed) break;
      hear(bytes.toString("utf8", end + 4, needed), onMessage);
      bytes = bytes.subarray(needed);
    }
    if (Math.max(needed, bytes.length) > longestMessage) refuseLength();
    held = [bytes];
    size = bytes.length;
  }
  return open(stream, push, (json) => `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
}

function refuseLength(): never {
  throw new RangeError("a message is too long");
}

function open(stream: Duplex, push: (piece: Buffer) => void, frame: (json: string) => string): DebugMessages {
  let hasEnded = false;
  const listeners: (() => void)[] = [];

  function finish(): void {
    if (hasEnded) return;
    hasEnded = true;
    for (const listener of listeners) listener();
  }

  stream.on("data", (piece: Buffer) => {
    try {
      if (!hasEnded) push(piece);
    } catch {
      // What sends nonsense is not the debugger any more.
      stream.destroy();
    }
  });
  for (const event of ["end", "close", "error"]) stream.once(event, finish);
  return {
    send(message) {
      if (!stream.destroyed && stream.writable) stream.write(frame(JSON.stringify(message)));
    },
    onEnd(listener) {
      if (hasEnded) listener();
      else listeners.push(listener);
    },
  };
}

function hear(json: string, onMessage: (message: Message) => void): void {
  if (json.trim() === "") return;
  const value: unknown = JSON.parse(json);
  if (typeof value === "object" && value !== null) onMessage(value as Message);
}

/** A part of a message that should be an object. */
export function getPart(value: unknown, name: string): Message {
  const part = getField(value, name);
  return typeof part === "object" && part !== null ? (part as Message) : {};
}

/** A part of a message that should be a list. */
export function getList(value: unknown, name: string): readonly unknown[] {
  const part = getField(value, name);
  return Array.isArray(part) ? part : [];
}

/** A part of a message that should be a text. */
export function getString(value: unknown, name: string): string | undefined {
  const part = getField(value, name);
  return typeof part === "string" ? part : undefined;
}

/** A part of a message that should be a whole number from 0. */
export function getNumber(value: unknown, name: string): number | undefined {
  const part = getField(value, name);
  return typeof part === "number" && Number.isSafeInteger(part) && part >= 0 ? part : undefined;
}

function getField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Message)[name]
    : undefined;
}

/** Requests that wait for their answers. */
export interface Requests<Answer> {
  /** Sends one, with a number of its own; rejects if it is refused, or there can be no answer any more. */
  ask(send: (id: number) => void): Promise<Answer>;
  answer(id: number | undefined, answer: Answer): void;
  refuse(id: number | undefined, cause: Error): void;
  /** There will be no more answers. */
  end(): void;
}

/** Keeps requests until they are answered. `toCause` says why one cannot be answered any more. */
export function createRequests<Answer>(toCause: () => Error): Requests<Answer> {
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  let last = 0;
  let hasEnded = false;

  function take(id: number | undefined): PromiseWithResolvers<Answer> | undefined {
    const found = id === undefined ? undefined : waiting.get(id);
    if (id !== undefined) waiting.delete(id);
    return found;
  }

  return {
    ask(send) {
      if (hasEnded) return Promise.reject(toCause());
      const id = ++last;
      const request = Promise.withResolvers<Answer>();
      waiting.set(id, request);
      send(id);
      return request.promise;
    },
    answer: (id, answer) => take(id)?.resolve(answer),
    refuse: (id, cause) => take(id)?.reject(cause),
    end() {
      hasEnded = true;
      for (const { reject } of waiting.values()) reject(toCause());
      waiting.clear();
    },
  };
}
