import type { JsonValue } from "../core/json.ts";

/** One event of a stream. */
export type ServerEvent =
  | {
      /** The position in a log. A client that comes back names the last one that it has. */
      readonly id?: number;
      /** What it is; protocols of others say that in the data. */
      readonly event?: string;
      readonly data: JsonValue;
    }
  /** A line that is no JSON, as some protocols end with. */
  | { readonly id?: undefined; readonly event?: undefined; readonly data?: undefined; readonly raw: string };

/** A line that clients skip: it keeps proxies from closing a quiet stream. */
export const heartbeat = ": \n\n";

/** How often a quiet stream has a heartbeat. */
export const heartbeatMs = 15_000;

/** Writes an event as `text/event-stream`. JSON text has no line breaks of its own. */
export function renderServerEvent(one: ServerEvent): string {
  const { id, event } = one;
  const idLine = id === undefined ? "" : `id: ${id}\n`;
  const eventLine = event === undefined ? "" : `event: ${event}\n`;
  return `${idLine}${eventLine}data: ${"raw" in one ? one.raw : JSON.stringify(one.data)}\n\n`;
}

/** Every answer has them: browsers take it for what its type says. */
export const safeHeaders = { "x-content-type-options": "nosniff" } as const;

/** Headers of a stream that proxies pass on at once. */
export const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  ...safeHeaders,
  "x-accel-buffering": "no",
} as const;

/**
 * Writes events as bytes, with heartbeats while no event comes. Ends with the events, or when it is cancelled: then `onEnd` is called, and the
 * source is told by `return` that nothing more is read.
 */
export function toEventStream(events: AsyncIterable<ServerEvent>, onEnd: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const source = events[Symbol.asyncIterator]();
  let pending: Promise<IteratorResult<ServerEvent>> | undefined;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      pending ??= source.next();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const quiet = new Promise<undefined>((resolve) => {
        timer = setTimeout(() => resolve(undefined), heartbeatMs);
      });
      try {
        const next = await Promise.race([pending, quiet]);
        if (next === undefined) return controller.enqueue(encoder.encode(heartbeat));
        pending = undefined;
        if (next.done !== true) return controller.enqueue(encoder.encode(renderServerEvent(next.value)));
        onEnd();
        controller.close();
      } catch (cause) {
        onEnd();
        controller.error(cause);
      } finally {
        clearTimeout(timer);
      }
    },
    cancel() {
      onEnd();
      // A source that waits for something returns when that comes; nothing waits for it here.
      source.return?.().then(undefined, () => {});
    },
  });
}
