import { KitbagError } from "../../core/errors.ts";
import type { CallEvent } from "../../core/events.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ValueOf } from "../../core/schema/schema-types.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import { createQueue, readQueue } from "../event-queue.ts";
import { operation, type OperationContext } from "../operation.ts";
import { toProblem } from "../problem.ts";
import type { ServerEvent } from "../server-events.ts";
import { listOf, toolShape, toToolSummary } from "../shapes.ts";

const text = { type: "string" } as const;

const callInput = {
  type: "object",
  properties: {
    input: { description: "What the tool is called with", default: {} },
    limitMs: { type: "integer", minimum: 1, description: "How long the call may take, in milliseconds" },
    idempotencyKey: {
      ...text,
      minLength: 1,
      maxLength: 200,
      description: "With the same key and input the tool runs once; also as the header Idempotency-Key",
    },
  },
  additionalProperties: false,
} as const;

/** What an outcome holds when the call succeeded; a failed call is a problem. */
const outcomeShape = {
  type: "object",
  properties: {
    status: { const: "ok" },
    output: {},
    coerced: { description: "Changes that were made to the input so that it fits" },
    capped: { description: "Where the whole output is, if this is only its beginning" },
    recalled: { enum: ["cache", "key", "shared"] },
    files: { description: "What the tool wrote: read one with outputs.read" },
  },
  required: ["status", "output"],
} as const;

interface CallInput {
  readonly address: string;
  readonly input: JsonValue;
  readonly limitMs?: number;
  readonly idempotencyKey?: string;
}

/** Tools: which there are now, what they take, and calls of them. */
export const toolOperations = {
  "tools.list": operation("tools.list", {
    summary: "Lists the tools that you can call now.",
    answer: listOf("Tools", toolShape),
    handle: ({ session }) => ({ items: session.getAvailableTools().map(toToolSummary) }),
  }),
  "tools.search": operation("tools.search", {
    summary: "Finds tools and skills by words, also of skills that are closed.",
    input: {
      type: "object",
      properties: {
        query: { ...text, minLength: 1 },
        limit: { type: "integer", minimum: 1, maximum: 100, default: 10 },
      },
      required: ["query"],
      additionalProperties: false,
    },
    answer: listOf("What was found, the best first", {
      type: "object",
      properties: { kind: { enum: ["tool", "skill"] }, address: text, description: text },
      required: ["kind", "address", "description"],
    }),
    handle: ({ session }, { query, limit }) => ({
      items: session.search(query, { limit }).map(({ kind, address, description }) => ({ kind, address, description })),
    }),
  }),
  "tools.get": operation("tools.get", {
    summary: "Reads a tool with the schemas of its input and output.",
    answer: {
      type: "object",
      properties: {
        ...toolShape.properties,
        available: { type: "boolean", description: "Whether it can be called now, in your session" },
        inputSchema: {},
        outputSchema: {},
        examples: {},
        permissions: {},
      },
      required: [...toolShape.required, "available", "inputSchema"],
    },
    handle({ session }, { address }) {
      const entry = session.getTool(address);
      if (entry === undefined) throw missingTool(address);
      const { inputSchema, outputSchema, examples, permissions } = entry.tool;
      return {
        ...toToolSummary(entry),
        available: session.isToolAvailable(entry.address),
        inputSchema: inputSchema as JsonObject,
        ...(outputSchema !== undefined && { outputSchema: outputSchema as JsonObject }),
        ...(examples !== undefined && { examples: examples as unknown as JsonValue }),
        ...(permissions !== undefined && { permissions: permissions as unknown as JsonValue }),
      };
    },
  }),
  "tools.call": operation("tools.call", {
    summary:
      "Calls a tool, and answers with its outcome; as a stream (accept: text/event-stream) with the events of the call, and the outcome last.",
    input: callInput,
    answer: outcomeShape,
    async handle(context, input) {
      return toResult(await context.session.call(input.address, input.input, toOptions(context, input)));
    },
    stream: (context, input) => streamCall(context, input),
  }),
  "calls.cancel": operation("calls.cancel", {
    summary: "Cancels a call of yours that is running: its id is the first event of its stream.",
    answer: { type: "object", properties: { cancelled: { type: "boolean" } }, required: ["cancelled"] },
    handle: (context, { id }) => ({ cancelled: context.calls.cancel(context, id) }),
  }),
} as const;

/** @throws {KitbagError} why the call failed: the API answers with a problem. */
function toResult(outcome: ToolOutcome): ValueOf<typeof outcomeShape, "given"> {
  if (outcome.status === "ok") return outcome as unknown as ValueOf<typeof outcomeShape, "given">;
  const { code, details } = outcome.error;
  throw new KitbagError(code, details);
}

function toOptions({ caller, signal, header }: OperationContext, input: CallInput): CallOptions {
  const key = input.idempotencyKey ?? header("idempotency-key");
  const [traceparent, tracestate] = [header("traceparent"), header("tracestate")];
  return {
    signal,
    user: caller.id,
    ...(input.limitMs !== undefined && { limitMs: input.limitMs }),
    ...(key !== undefined && { idempotencyKey: key }),
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
  };
}

/** The events of a call as they happen, then `outcome`, or `problem` if it failed. */
async function* streamCall(context: OperationContext, input: CallInput): AsyncIterable<ServerEvent> {
  const queue = createQueue<CallEvent>();
  const started = context.calls.begin(context);
  const options = { ...toOptions(context, input), signal: started.signal, onEvent: queue.add };
  const call = context.session.call(input.address, input.input, options).finally(queue.end);
  try {
    yield { event: "call", data: { id: started.id } };
    for await (const event of readQueue(queue)) {
      yield { event: event.type, data: event as unknown as JsonValue };
    }
    const dropped = queue.takeDropped();
    if (dropped > 0) yield { event: "events-dropped", data: { count: dropped } };
    const outcome = await call;
    if (outcome.status === "ok") yield { event: "outcome", data: outcome as unknown as JsonValue };
    else yield { event: "problem", data: toProblem(outcome.error) };
  } finally {
    started.cancel();
  }
}

function missingTool(tool: string): KitbagError<"tool-not-found"> {
  return new KitbagError("tool-not-found", { tool, nearest: [], count: 0 });
}
