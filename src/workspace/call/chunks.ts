import { KitbagError } from "../../core/errors.ts";
import { copyJson, maxJsonDepth, type JsonValue } from "../../core/json.ts";
import type { RedactedStream } from "../../core/redactor.ts";
import type { Call } from "./call.ts";

/** The pieces of an output on their way to those who listen. */
export interface Chunks {
  /**
   * Hands on a piece.
   *
   * @throws {KitbagError} `output-invalid` if it is no JSON; `output-too-large` if all pieces together are more than is kept.
   */
  push(chunk: JsonValue): void;
  /** Sends what is held back. */
  flush(): void;
}

/** Makes the way of a call's chunks: they are copied, and a secret that is cut between two pieces of text is found as well. */
export function createChunks(call: Call): Chunks {
  let stream: RedactedStream | undefined;
  let bytes = 0;

  function send(chunk: JsonValue): void {
    if (chunk !== "") call.emit({ type: "call-chunk", call: call.id, chunk });
  }

  function copy(chunk: unknown): JsonValue {
    const limitBytes = call.limit("maxKeptBytes");
    const copied = copyJson(chunk, { maxBytes: limitBytes - bytes, maxDepth: maxJsonDepth });
    if (copied.ok) {
      bytes += copied.bytes;
      return copied.value;
    }
    if (copied.reason === "too-large") throw new KitbagError("output-too-large", { tool: call.address, limitBytes });
    throw new KitbagError("output-invalid", { tool: call.address, problems: [copied.problem] });
  }

  return {
    push(chunk) {
      if (call.stopped !== undefined || call.ended) return;
      const value = copy(chunk);
      if (!call.isHeard()) return;
      stream ??= call.redactor?.stream();
      if (stream === undefined) return send(value);
      if (typeof value === "string") return send(stream.push(value));
      send(stream.flush());
      send(value);
    },
    flush() {
      if (stream !== undefined) send(stream.flush());
    },
  };
}
