import type { JsonValue } from "../core/json.ts";
import type { Runtime, RuntimeContext } from "../core/runtime.ts";
import { ProgressMark, type FunctionCode } from "../core/tool.ts";

/**
 * Runs tools that are functions of this process: plain, async, or generators. What a generator yields is progress or a chunk of
 * its output; what it returns is the output. One that returns nothing has its chunks as the output: joined if all are text.
 */
export function functionRuntime(): Runtime {
  return {
    kind: "function",
    run(tool, input, context) {
      const result = (tool.code as FunctionCode).run(input, context);
      return isGenerator(result) ? runGenerator(result, context) : result;
    },
  };
}

/** Something with the methods of a generator; one that is written by hand need not have `return`. */
interface AnyGenerator {
  next(): IteratorResult<unknown> | Promise<IteratorResult<unknown>>;
  return?(value: undefined): unknown;
}

function isGenerator(value: unknown): value is AnyGenerator {
  return (
    typeof value === "object" &&
    value !== null &&
    "next" in value &&
    typeof value.next === "function" &&
    (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}

/** How long a generator may go on before other work gets its turn, in milliseconds. */
const longestTurn = 10;

async function runGenerator(generator: AnyGenerator, context: RuntimeContext): Promise<unknown> {
  const chunks: JsonValue[] = [];
  let turnEndsAt = performance.now() + longestTurn;
  try {
    for (;;) {
      const { done, value } = await generator.next();
      if (done === true) return value === undefined ? joinChunks(chunks) : value;
      if (value instanceof ProgressMark) context.progress(value.progress);
      else {
        context.chunk(value as JsonValue);
        chunks.push(value as JsonValue);
      }
      if (performance.now() >= turnEndsAt) {
        // One that never waits for anything would keep the clock from being noticed.
        await new Promise(setImmediate);
        turnEndsAt = performance.now() + longestTurn;
      }
      context.signal.throwIfAborted();
    }
  } finally {
    cleanUp(generator);
  }
}

/** Lets the generator clean up; it does nothing if it is done. What goes wrong there changes nothing any more. */
function cleanUp(generator: AnyGenerator): void {
  void (async () => generator.return?.(undefined))().catch(() => {});
}

function joinChunks(chunks: readonly JsonValue[]): JsonValue {
  if (chunks.length === 0) return null;
  return chunks.every((chunk) => typeof chunk === "string") ? chunks.join("") : chunks;
}
