import type { ModelPart, ModelStream } from "../model.ts";

/** Where the parts of an answer come from, one at a time. */
export interface PartSource {
  /** The next part, at once if it is there; `undefined` at the end. Rejects if the connection is lost. */
  next(): Promise<ModelPart | undefined> | ModelPart | undefined;
  /** Stops the stream: the rest is not needed. */
  cancel(reason?: unknown): Promise<void>;
  /** The first part is there, and what goes wrong is a part: there is nothing left to find out. */
  readonly isOpened?: boolean;
}

/** An answer on its way, as what it comes from instead of as a stream. */
export interface PartAnswer extends Omit<ModelStream, "stream"> {
  readonly source: PartSource;
}

/** Takes the parts of an answer, one by one. The answer cannot be read any more in another way. */
export function toPartAnswer({ stream, request, response }: ModelStream): PartAnswer {
  return withFacts({ source: readStream(stream) }, { request, response });
}

/** Makes the answer that everybody can read. */
export function fromPartAnswer({ source, request, response }: PartAnswer): ModelStream {
  return withFacts({ stream: toStream(source) }, { request, response });
}

/** Adds what is known of the request and the response. */
export function withFacts<Answer extends object>(
  answer: Answer,
  {
    request,
    response,
  }: { request?: ModelStream["request"] | undefined; response?: ModelStream["response"] | undefined },
): Answer & Pick<ModelStream, "request" | "response"> {
  const whole: Answer & Pick<ModelStream, "request" | "response"> = answer;
  if (request !== undefined) whole.request = request;
  if (response !== undefined) whole.response = response;
  return whole;
}

function readStream(stream: ReadableStream<ModelPart>): PartSource {
  const reader = stream.getReader();
  const take = (read: {
    readonly done: boolean;
    readonly value?: ModelPart | undefined;
  }): Promise<ModelPart | undefined> | ModelPart | undefined => {
    if (read.done) return undefined;
    // A stream of a custom model may hold any value.
    return typeof read.value === "object" && read.value !== null ? read.value : next();
  };
  const next = (): Promise<ModelPart | undefined> => reader.read().then(take);
  return {
    next,
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
    isOpened: source.isOpened === true,
  };
}
