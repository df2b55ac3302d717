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

/** The conversation with one script. */
export interface RpcSession {
  /** Resolves when the script has closed its end and everything it said was heard. Never rejects. */
  readonly ended: Promise<void>;
  /** Why the script got no result the last time that it got none. */
  refused(): KitbagError | undefined;
  /** Whether it stopped listening because too many messages made no sense. */
  hasGivenUp(): boolean;
  /** Stops listening. */
  close(): void;
}

/** Answers a script that speaks JSON-RPC 2.0 over `channel`, one message a line. Costs nothing until it does. */
export function serveRpc(channel: Duplex, methods: RpcMethods, limits: RpcLimits = defaultRpcLimits): RpcSession {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let session: Conversation | undefined;
  let isClosed = false;

  channel.on("data", (piece: Buffer) => {
    session ??= converse(channel, methods, limits);
    session.push(piece);
  });
  channel.once("end", () => {
    if (session === undefined) end();
    else session.finish(end);
  });
  channel.once("error", close);
  channel.once("close", close);

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    session?.close();
    channel.destroy();
    end();
  }

  return {
    ended,
    refused: () => session?.refused(),
    hasGivenUp: () => session?.hasGivenUp() === true,
    close,
  };
}

interface Conversation extends Pick<RpcSession, "refused" | "hasGivenUp" | "close"> {
  push(piece: Buffer): void;
  /** Calls `done` when everything that was said is heard. */
  finish(done: () => void): void;
}

/** How often a script that asks too fast is looked at again. */
const pauseMs = 20;

/** Hears what a script says as fast as it may: one that is faster waits as soon as its pipe is full. */
function converse(channel: Duplex, methods: RpcMethods, limits: RpcLimits): Conversation {
  const lines: Buffer[] = [];
  const pace = createPace(limits.messagesPerSecond);
  const speaker = createSpeaker(channel, limits);
  const hearer = createHearer(speaker, methods, limits, pump);
  let timer: NodeJS.Timeout | undefined;
  let whenDone: (() => void) | undefined;

  const splitter = createLineSplitter({
    maxBytes: limits.maxMessageBytes,
    onLine(line) {
      if (line.length > 0) lines.push(line);
    },
    onTooLong: () => speaker.refuse(wrong(`Cannot read a message of more than ${limits.maxMessageBytes} bytes`)),
  });

  function pump(): void {
    clearTimeout(timer);
    while (lines.length > 0 && hearer.open() < limits.maxParallel && speaker.isHeard() && pace.take()) {
      const line = lines.shift();
      if (line !== undefined) hearer.hear(line);
    }
    if (channel.destroyed) return;
    if (lines.length > 0) {
      channel.pause();
      timer = setTimeout(pump, pauseMs);
    } else {
      channel.resume();
      if (hearer.open() === 0) whenDone?.();
    }
  }

  return {
    push(piece) {
      splitter.push(piece);
      pump();
    },
    finish(done) {
      whenDone = done;
      pump();
    },
    refused: () => hearer.refused(),
    hasGivenUp: () => speaker.hasGivenUp(),
    close() {
      clearTimeout(timer);
      lines.length = 0;
    },
  };
}

/** Allows so many things a second, and as many at once after a rest. */
function createPace(perSecond: number): { take(): boolean } {
  let tokens = perSecond;
  let filledAt = performance.now();
  return {
    take() {
      const now = performance.now();
      tokens = Math.min(perSecond, tokens + ((now - filledAt) / 1000) * perSecond);
      filledAt = now;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}

interface Speaker {
  answer(id: string | number, line: string): void;
  /** Tells what was wrong, and stops listening to a script that makes no sense at all. */
  refuse(cause: unknown): void;
  /** Whether the script reads its answers. */
  isHeard(): boolean;
  hasGivenUp(): boolean;
}

function createSpeaker(channel: Duplex, limits: RpcLimits): Speaker {
  let mistakes = 0;

  function write(line: string): void {
    if (channel.writable) channel.write(line);
  }

  return {
    answer(id, line) {
      const isSmall = line.length <= limits.maxAnswerBytes;
      const tooLarge = new RpcError(rpcCodes.failed, `Cannot answer with more than ${limits.maxAnswerBytes} bytes`);
      write(isSmall ? line : renderError(id, tooLarge));
    },
    refuse(cause) {
      mistakes += 1;
      write(renderError(null, cause));
      if (mistakes > limits.maxMistakes) channel.destroy();
    },
    isHeard: () => !channel.destroyed && !channel.writableNeedDrain,
    hasGivenUp: () => mistakes > limits.maxMistakes,
  };
}

interface Hearer {
  hear(line: Buffer): void;
  /** How many messages are being worked on. */
  open(): number;
  refused(): KitbagError | undefined;
}

function createHearer(speaker: Speaker, methods: RpcMethods, limits: RpcLimits, onDone: () => void): Hearer {
  const running = new Set<string | number>();
  let open = 0;
  let refused: KitbagError | undefined;

  async function serve({ id, method, params }: RpcRequest): Promise<void> {
    const run = methods.get(method);
    try {
      if (run === undefined) throw new RpcError(rpcCodes.unknownMethod, unknownMethod(method, methods));
      const result = await run(params);
      if (id !== undefined) speaker.answer(id, renderResult(id, result));
    } catch (cause) {
      if (isKitbagError(cause)) refused = cause;
      if (id !== undefined) speaker.answer(id, renderError(id, cause));
      else if (run === undefined) speaker.refuse(cause);
    }
  }

  function begin(request: RpcRequest): void {
    const { id } = request;
    if (id !== undefined && running.has(id)) {
      throw wrong(`Cannot use the id ${JSON.stringify(id)} again: it is still waiting`);
    }
    if (id !== undefined) running.add(id);
    open += 1;
    void serve(request).finally(() => {
      open -= 1;
      if (id !== undefined) running.delete(id);
      onDone();
    });
  }

  return {
    hear(line) {
      try {
        begin(parseRequest(line, limits.maxMessageBytes));
      } catch (cause) {
        speaker.refuse(cause);
      }
    },
    open: () => open,
    refused: () => refused,
  };
}

function wrong(message: string): RpcError {
  return new RpcError(rpcCodes.notRequest, message);
}

function unknownMethod(method: string, methods: RpcMethods): string {
  return `Cannot do ${JSON.stringify(method.slice(0, 64))}: the methods are ${[...methods.keys()].join(", ")}`;
}
