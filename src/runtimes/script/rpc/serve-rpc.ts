import type { Duplex } from "node:stream";

import { isKitbagError, type KitbagError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json.ts";
import { createLineSplitter } from "../../../platform/lines.ts";
import { parseRequest, renderError, renderResult, rpcCodes, RpcError, type RpcRequest } from "./message.ts";

/** What scripts can ask for, by name. A method answers with JSON or a promise of it, or throws. */
export type RpcMethods = ReadonlyMap<string, (params: JsonObject) => unknown>;

/** How much a script may ask for. A script that asks faster waits; nothing is lost. */
export interface RpcLimits {
  readonly maxMessageBytes: number;
  readonly maxAnswerBytes: number;
  readonly maxParallel: number;
  readonly messagesPerSecond: number;
  /** How many messages may make no sense before the channel is closed. */
  readonly maxMistakes: number;
}

/** What a script may ask for by default. */
export const defaultRpcLimits: RpcLimits = {
  maxMessageBytes: 1024 * 1024 + 4096,
  maxAnswerBytes: 8 * 1024 * 1024,
  maxParallel: 16,
  messagesPerSecond: 5000,
  maxMistakes: 100,
};

/** How often a script that sends requests too fast is read again. */
const pauseMs = 20;

/** Answers a script that speaks JSON-RPC 2.0 over `channel`, one message a line. */
export function serveRpc(channel: Duplex, methods: RpcMethods, limits: RpcLimits = defaultRpcLimits): RpcSession {
  return new RpcSession(channel, methods, limits);
}

/** The conversation with one script. It is heard as fast as it may speak: one that is faster waits as soon as its pipe is full. */
export class RpcSession {
  /** Resolves when the script has closed its end and everything it said was heard. Never rejects. */
  readonly ended: Promise<void>;
  readonly #end: () => void;
  readonly #channel: Duplex;
  readonly #methods: RpcMethods;
  readonly #limits: RpcLimits;
  readonly #lines: Buffer[] = [];
  /** The ids of the messages that are being worked on. */
  readonly #ids = new Set<string | number>();
  /** How many messages are being worked on. */
  #open = 0;
  #mistakes = 0;
  #refused: KitbagError | undefined;
  /** How many messages may be heard at once, which grows with the time. */
  #tokens: number;
  #filledAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #hasSaidAll = false;

  constructor(channel: Duplex, methods: RpcMethods, limits: RpcLimits) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
    this.#channel = channel;
    this.#methods = methods;
    this.#limits = limits;
    this.#tokens = limits.messagesPerSecond;
    const splitter = createLineSplitter({
      maxBytes: limits.maxMessageBytes,
      onLine: (line) => {
        if (line.length > 0) this.#lines.push(line);
      },
      onTooLong: () => this.#refuse(wrong(`Cannot read a message of more than ${limits.maxMessageBytes} bytes`)),
    });
    channel.on("data", (piece: Buffer) => {
      splitter.push(piece);
      this.#pump();
    });
    channel.once("end", () => {
      this.#hasSaidAll = true;
      this.#pump();
    });
    for (const event of ["error", "close"]) channel.once(event, () => this.close());
  }

  /** Why the script got no result the last time that it got none. */
  get refused(): KitbagError | undefined {
    return this.#refused;
  }

  /** Whether it stopped listening because too many messages made no sense. */
  get hasGivenUp(): boolean {
    return this.#mistakes > this.#limits.maxMistakes;
  }

  /** Stops listening. */
  close(): void {
    clearTimeout(this.#timer);
    this.#lines.length = 0;
    this.#channel.destroy();
    this.#end();
  }

  #pump(): void {
    clearTimeout(this.#timer);
    while (this.#lines.length > 0 && this.#mayHear()) this.#hear(this.#lines.shift() as Buffer);
    if (this.#channel.destroyed) return;
    if (this.#lines.length > 0) {
      this.#channel.pause();
      this.#timer = setTimeout(() => this.#pump(), pauseMs);
    } else {
      this.#channel.resume();
      if (this.#hasSaidAll && this.#open === 0) this.#end();
    }
  }

  /** Whether the script reads its answers, and asks neither too much at once nor too fast: after a rest it may ask more. */
  #mayHear(): boolean {
    const { maxParallel, messagesPerSecond } = this.#limits;
    if (this.#channel.destroyed || this.#channel.writableNeedDrain || this.#open >= maxParallel) return false;
    const now = performance.now();
    const more = ((now - this.#filledAt) / 1000) * messagesPerSecond;
    this.#tokens = Math.min(messagesPerSecond, this.#tokens + more);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #hear(line: Buffer): void {
    try {
      const request = parseRequest(line, this.#limits.maxMessageBytes);
      const { id } = request;
      if (id !== undefined && this.#ids.has(id)) {
        throw wrong(`Cannot use the id ${JSON.stringify(id)} again: it is still waiting`);
      }
      if (id !== undefined) this.#ids.add(id);
      this.#open += 1;
      void this.#serve(request).finally(() => {
        this.#open -= 1;
        if (id !== undefined) this.#ids.delete(id);
        this.#pump();
      });
    } catch (cause) {
      this.#refuse(cause);
    }
  }

  async #serve({ id, method, params }: RpcRequest): Promise<void> {
    const run = this.#methods.get(method);
    try {
      if (run === undefined) throw new RpcError(rpcCodes.unknownMethod, unknownMethod(method, this.#methods));
      const result = await run(params);
      if (id !== undefined) this.#answer(id, renderResult(id, result));
    } catch (cause) {
      if (isKitbagError(cause)) this.#refused = cause;
      if (id !== undefined) this.#answer(id, renderError(id, cause));
      else if (run === undefined) this.#refuse(cause);
    }
  }

  #answer(id: string | number, line: string): void {
    const { maxAnswerBytes } = this.#limits;
    const tooLarge = `Cannot answer with more than ${maxAnswerBytes} bytes`;
    this.#write(line.length <= maxAnswerBytes ? line : renderError(id, new RpcError(rpcCodes.failed, tooLarge)));
  }

  /** Tells what was wrong, and stops listening to a script that makes no sense at all. */
  #refuse(cause: unknown): void {
    this.#mistakes += 1;
    this.#write(renderError(null, cause));
    if (this.hasGivenUp) this.#channel.destroy();
  }

  #write(line: string): void {
    if (this.#channel.writable) this.#channel.write(line);
  }
}

function wrong(message: string): RpcError {
  return new RpcError(rpcCodes.notRequest, message);
}

function unknownMethod(method: string, methods: RpcMethods): string {
  return `Cannot do ${JSON.stringify(method.slice(0, 64))}: the methods are ${[...methods.keys()].join(", ")}`;
}
