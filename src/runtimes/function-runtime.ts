import type { JsonValue } from "../core/json.ts";
import type { Runtime, RuntimeContext } from "../core/runtime.ts";
import { ProgressMark } from "../core/tool-context.ts";
import type { FunctionCode } from "../core/tool.ts";

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

type AnyGenerator = AsyncGenerator<unknown, unknown, void> | Generator<unknown, unknown, void>;

function isGenerator(value: unknown): value is AnyGenerator {
  return (
    typeof value === "object" &&
    value !== null &&
    "next" in value &&
    typeof value.next === "function" &&
    (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}

async function runGenerator(generator: AnyGenerator, context: RuntimeContext): Promise<unknown> {
  const chunks: JsonValue[] = [];
  try {
    while (!context.signal.aborted) {
      const { done, value } = await generator.next();
      if (done === true) return value === undefined ? joinChunks(chunks) : value;
      if (value instanceof ProgressMark) context.progress(value.progress);
      else {
        chunks.push(value as JsonValue);
        context.chunk(value as JsonValue);
      }
    }
    throw context.signal.reason;
  } finally {
    // Lets the generator clean up; it does nothing if it is done.
    void Promise.resolve(generator.return(undefined)).catch(() => {});
  }
}

function joinChunks(chunks: readonly JsonValue[]): JsonValue {
  if (chunks.length === 0) return null;
  return chunks.every((chunk) => typeof chunk === "string") ? chunks.join("") : chunks;
}
