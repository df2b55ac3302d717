import type { ModelPart, ModelStream } from "../model.ts";

/** Where the parts of an answer come from, one at a time. */
export interface PartSource {
  /** The next part; `undefined` at the end. Rejects if the connection is lost. */
  next(): Promise<ModelPart | undefined>;
  /** Says that nobody wants the rest. */
  cancel(reason?: unknown): Promise<void>;
}

/**
 * The sources of the answers that were made here. Wrappers stand around each other, and the loop around them: each takes the
 * source of the one inside, so that no part goes through a stream however many there are.
 */
const sources = new WeakMap<ModelStream, PartSource>();

/**
 * Takes the parts of an answer, one by one; its stream is not made if nobody made it before. It cannot be read any more in
 * another way.
 */
export function takeSource(answer: ModelStream): PartSource {
  return sources.get(answer) ?? readStream(answer.stream);
}

/** Makes an answer from a source, with all of `others` but its stream. The stream is made when somebody wants it. */
export function toAnswer(source: PartSource, others: Partial<ModelStream>): ModelStream {
  let stream: ReadableStream<ModelPart> | undefined;
  const answer: ModelStream = {
    get stream() {
      return (stream ??= toStream(source));
    },
  };
  if (others.request !== undefined) answer.request = others.request;
  if (others.response !== undefined) answer.response = others.response;
  sources.set(answer, source);
  return answer;
}

function readStream(stream: ReadableStream<ModelPart>): PartSource {
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
function toStream(source: PartSource): ReadableStream<ModelPart> {
  return new ReadableStream<ModelPart>(
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
