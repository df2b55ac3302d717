import type { JsonValue } from "../../core/json.ts";
import { repairToolInput } from "./repair-tool-input.ts";

/**
 * Reads JSON as it comes and gives what is there of it so far, each time more: for showing the arguments of a call while the
 * model writes them. It is the same object each time, which grows.
 *
 * Contract: takes time in proportion to the text. What is not JSON is repaired when it is over, if it can be; then the last value
 * is another object. Never throws for what the chunks say; errors of `chunks` itself go through.
 *
 * @example
 * ```ts
 * import { readPartialJson } from "kitbag/models";
 *
 * async function* chunks() {
 *   yield '{"city": "Par';
 *   yield 'is"}';
 * }
 *
 * const seen: string[] = [];
 * for await (const value of readPartialJson(chunks())) seen.push(JSON.stringify(value));
 * console.assert(seen.join(" ") === '{"city":"Par"} {"city":"Paris"}');
 * ```
 */
export async function* readPartialJson(chunks: AsyncIterable<string>): AsyncGenerator<JsonValue> {
  const { parse } = await import("jsonriver");
  const iterator = chunks[Symbol.asyncIterator]();
  const seen: string[] = [];
  let failure: { readonly cause: unknown } | undefined;
  /** Does not close `chunks` when the reader gives up: what follows is needed for the repair. */
  async function* remember(): AsyncGenerator<string> {
    for (;;) {
      const next = await iterator.next().catch((cause: unknown) => {
        failure = { cause };
        throw cause;
      });
      if (next.done === true) return;
      seen.push(next.value);
      yield next.value;
    }
  }
  try {
    for await (const value of parse(remember())) yield value;
    return;
  } catch {
    if (failure !== undefined) throw failure.cause;
    for await (const _ of remember());
    const repaired = repairToolInput(seen.join(""));
    if (repaired.ok) yield repaired.input;
  } finally {
    await iterator.return?.();
  }
}
