import type { WrittenFile } from "../../core/call-files.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { CappedOutput, ToolOutcome } from "../../core/outcome.ts";
import type { CallOptions } from "../call/call-options.ts";
import type { Session } from "../workspace.ts";
import { createDispatchTool, done, type DispatchTool } from "./dispatch-tool.ts";
import { createDispatchView } from "./dispatch-view.ts";
import { callTool } from "./tool-dispatch.ts";

/** The maximum number of calls in one batch. */
const mostCalls = 100;

/** How one call of a batch ended. */
type BatchResult =
  | (Wrote & { readonly status: "ok"; readonly output: JsonValue; readonly capped?: CappedOutput })
  | (Wrote & { readonly status: "failed"; readonly code: string; readonly message: string })
  | { readonly name: string; readonly status: "skipped" };

interface Wrote {
  readonly name: string;
  readonly files?: readonly WrittenFile[];
}

interface BatchCall extends JsonObject {
  readonly name: string;
}

interface BatchInput {
  readonly calls: readonly BatchCall[];
  readonly order: "parallel" | "sequence";
  readonly stopOnFailure: boolean;
}

const batchProperties = {
  calls: {
    type: "array",
    minItems: 1,
    maxItems: mostCalls,
    description: "What to call, each as call_tool takes it",
    items: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1 },
        version: { type: "string" },
        input: { type: "object", additionalProperties: true, default: {} },
      },
      required: ["name"],
    },
  },
  order: {
    type: "string",
    enum: ["parallel", "sequence"],
    default: "parallel",
    description: "All at once, or one after the other",
  },
  stopOnFailure: {
    type: "boolean",
    default: false,
    description: "In sequence: leave out the rest after one that failed",
  },
} as const;

const batchOutput = {
  type: "object",
  properties: {
    results: {
      type: "array",
      description: "Of each call, in the order they were given",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          status: { type: "string", enum: ["ok", "failed", "skipped"] },
          output: { description: "What the tool gave" },
          capped: {
            type: "object",
            description: "If output is only the head: where the whole is",
            properties: { handle: { type: "string" }, bytes: { type: "integer" } },
            required: ["handle", "bytes"],
          },
          files: { type: "array", description: "What the tool wrote", items: { type: "object" } },
          code: { type: "string", description: "What kind of failure it was" },
          message: { type: "string", description: "What was wrong, and what to do" },
        },
        required: ["name", "status"],
      },
    },
    failed: { type: "integer", description: "How many failed" },
  },
  required: ["results", "failed"],
} as const;

/**
 * Makes the tool that makes many calls in one request. Each takes the way of every call, and its result stands at its own place: one
 * that fails does not make the others fail.
 */
export function createBatchTool(session: Session): DispatchTool {
  const one = callTool(createDispatchView(session));
  return createDispatchTool({
    name: "call_tools",
    description:
      "Calls many tools in one go and answers with the result of each, in order. For calls that do not need each other's output.",
    properties: batchProperties,
    required: ["calls"],
    outputSchema: batchOutput,
    annotations: {},
    async run(given, context) {
      const { calls, order, stopOnFailure } = given as unknown as BatchInput;
      const results =
        order === "parallel"
          ? await Promise.all(calls.map((call) => runOne(one, call, context)))
          : await runInSequence(calls, stopOnFailure, (call) => runOne(one, call, context));
      return done({ results, failed: results.filter(({ status }) => status === "failed").length });
    },
  });
}

async function runInSequence(
  calls: readonly BatchCall[],
  stopOnFailure: boolean,
  run: (call: BatchCall) => Promise<BatchResult>,
): Promise<BatchResult[]> {
  const results: BatchResult[] = [];
  let stopped = false;
  for (const call of calls) {
    const result: BatchResult = stopped ? { name: call.name, status: "skipped" } : await run(call);
    stopped ||= stopOnFailure && result.status === "failed";
    results.push(result);
  }
  return results;
}

async function runOne(tool: DispatchTool, call: BatchCall, context: CallOptions): Promise<BatchResult> {
  return toResult(call.name, await tool.run(call, context));
}

function toResult(name: string, outcome: ToolOutcome): BatchResult {
  const { files } = outcome;
  const wrote: Wrote = { name, ...(files !== undefined && { files }) };
  if (outcome.status === "ok") {
    const { output, capped } = outcome;
    return { ...wrote, status: "ok", output, ...(capped !== undefined && { capped }) };
  }
  const { code, message } = outcome.error;
  return { ...wrote, status: "failed", code, message };
}
