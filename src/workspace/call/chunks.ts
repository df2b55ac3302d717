import { KitbagError } from "../../core/errors.ts";
import { hasGuardAt } from "../../core/guards.ts";
import { copyJson, maxJsonDepth, type JsonValue } from "../../core/json.ts";
import type { RedactedStream } from "../../core/redactor.ts";
import type { Call } from "./call.ts";

/**
 * The pieces of a call's output on their way to those who listen. They are copied, and a secret that is cut between two pieces
 * of text is found as well.
 */
export class Chunks {
  readonly #call: Call;
  #stream: RedactedStream | undefined;
  #bytes = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Hands on a piece.
   *
   * @throws {KitbagError} `output-invalid` if it is no JSON; `output-too-large` if all pieces together are more than is kept.
   */
  push(chunk: JsonValue): void {
    const call = this.#call;
    if (call.stopped !== undefined || call.ended) return;
    const value = this.#copy(chunk);
    if (!call.isHeard() || hasGuardAt(call.host.guards, "tool-output")) return;
    this.#stream ??= call.redactor?.stream();
    if (this.#stream === undefined) return this.#send(value);
    if (typeof value === "string") return this.#send(this.#stream.push(value));
    this.flush();
    this.#send(value);
  }

  /** Sends what is held back. */
  flush(): void {
    if (this.#stream !== undefined) this.#send(this.#stream.flush());
  }

  #send(chunk: JsonValue): void {
    if (chunk !== "") this.#call.emit({ type: "call-chunk", call: this.#call.id, chunk });
  }

  #copy(chunk: unknown): JsonValue {
    const tool = this.#call.address;
    const limitBytes = this.#call.limit("maxKeptBytes");
    const copy = copyJson(chunk, { maxBytes: limitBytes - this.#bytes, maxDepth: maxJsonDepth });
    if (!copy.ok) {
      if (copy.reason === "too-large") throw new KitbagError("output-too-large", { tool, limitBytes });
      throw new KitbagError("output-invalid", { tool, problems: [copy.problem] });
    }
    this.#bytes += copy.bytes;
    return copy.value;
  }
}
