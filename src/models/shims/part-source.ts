import type { ModelPart } from "../model.ts";

/** Where the parts of an answer come from, one at a time. */
export interface PartSource {
  /** The next part; `undefined` at the end. Rejects if the connection is lost. */
  next(): Promise<ModelPart | undefined>;
  /** Says that nobody wants the rest. */
  cancel(reason?: unknown): Promise<void>;
}

/**
 * The sources of the streams that were made here. Wrappers stand around each other: each takes the source of the one inside
 * instead of its stream, so that a part goes through one stream however many wrappers there are.
 */
const sources = new WeakMap<ReadableStream<ModelPart>, PartSource>();

/** Reads a stream part by part. The stream is taken: nobody else can read it. */
export function toSource(stream: ReadableStream<ModelPart>): PartSource {
  const own = sources.get(stream);
  if (own !== undefined && !stream.locked) {
    sources.delete(stream);
    return own;
  }
  const reader = stream.getReader();
  return {
    async next() {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return undefined;
        // Somebody else's stream may hold anything.
        if (typeof value === "object" && value !== null) return value;
      }
    },
    async cancel(reason) {
      // A provider that cannot even be cancelled is of no interest any more.
      await reader.cancel(reason).catch(() => {});
    },
  };
}

/** Makes a stream that asks for a part only when one is read. */
export function toStream(source: PartSource): ReadableStream<ModelPart> {
  const stream = new ReadableStream<ModelPart>(
    {
      async pull(controller) {
        const part = await source.next();
        if (part === undefined) controller.close();
        else controller.enqueue(part);
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  sources.set(stream, source);
  return stream;
}

/** A source whose parts are those of `source`, changed; parts for which `change` answers `undefined` are left out. */
export function mapSource(source: PartSource, change: (part: ModelPart) => ModelPart | undefined): PartSource {
  return {
    async next() {
      for (;;) {
        const part = await source.next();
        if (part === undefined) return undefined;
        const changed = change(part);
        if (changed !== undefined) return changed;
      }
    },
    cancel: (reason) => source.cancel(reason),
  };
}
