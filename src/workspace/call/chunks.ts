import { copyJson, maxJsonDepth, type JsonValue } from "../../core/json.ts";
import type { RedactedStream } from "../../core/redactor.ts";
import type { Call } from "./call.ts";

/** The pieces of an output on their way to those who listen. */
export interface Chunks {
  push(chunk: JsonValue): void;
  /** Sends what is held back. */
  flush(): void;
}

/** Makes the way of a call's chunks: they are copied, and a secret that is cut between two pieces of text is found as well. */
export function createChunks(call: Call): Chunks {
  let stream: RedactedStream | undefined;

  function send(chunk: JsonValue): void {
    if (chunk !== "") call.emit({ type: "call-chunk", call: call.id, chunk });
  }

  return {
    push(chunk) {
      if (call.stopped !== undefined || !call.isHeard()) return;
      const copy = copyJson(chunk, { maxBytes: call.limit("maxKeptBytes"), maxDepth: maxJsonDepth });
      if (!copy.ok) return;
      stream ??= call.redactor?.stream();
      if (stream === undefined) return send(copy.value);
      if (typeof copy.value === "string") return send(stream.push(copy.value));
      send(stream.flush());
      send(copy.value);
    },
    flush() {
      if (stream !== undefined) send(stream.flush());
    },
  };
}
