import type { JsonSchema } from "../../core/schema/json-schema.ts";

const text = { type: "string" } as const;
const name = { type: "string", minLength: 1 } as const;
const number = { type: "number" } as const;
const count = { type: "integer", minimum: 0 } as const;
const object = { type: "object" } as const;
const texts = { type: "array", items: text } as const;
const present = {} as const;

/** What is in a picture or another file, as it is kept. */
const fileData: JsonSchema = {
  ...toObject({ type: text }),
  allOf: [ofTypes(["data"], { data: text }), ofTypes(["url"], { url: text }), ofTypes(["text"], { text })],
};

/** Parts of messages and answers, as far as they are looked into. There may be types that nobody here knows. */
const part: JsonSchema = {
  type: "object",
  properties: { type: text },
  required: ["type"],
  allOf: [
    ofTypes(["text", "reasoning"], { text }),
    ofTypes(["tool-call", "tool-result"], { toolCallId: text, toolName: text }),
    ofTypes(["file", "reasoning-file"], { data: fileData, mediaType: text }),
  ],
};

const message: JsonSchema = {
  type: "object",
  properties: { role: { enum: ["system", "user", "assistant", "tool"] }, content: present },
  required: ["role", "content"],
  if: { properties: { role: { const: "system" } } },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { properties: { content: text } },
  else: { properties: { content: { type: "array", items: part } } },
};

const messages: JsonSchema = { type: "array", items: message, minItems: 1 };

const tokens: JsonSchema = { type: "object", properties: { total: { type: ["number", "null"] } } };
const usage: JsonSchema = toObject({ inputTokens: tokens, outputTokens: tokens });
const counted: JsonSchema = toObject({ model: text, usage });

/** What came of a call. */
const outcome: JsonSchema = {
  ...toObject({ status: { enum: ["ok", "failed"] } }),
  if: { properties: { status: { const: "failed" } } },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: toObject({ error: toObject({ message: text }) }),
  else: toObject({ output: present }),
};

/** What the lines of a journal are like, by their types; those of others are left alone. */
export const journalLines: ReadonlyMap<string, JsonSchema> = new Map(
  Object.entries({
    "task-start": toObject(
      { model: text, messages, earlier: count, skills: texts, time: number },
      {
        requestedModel: text,
        limits: { type: "object", additionalProperties: number },
        conversation: text,
        user: text,
        output: object,
        origin: object,
        forkOf: toObject({ run: text, step: count }),
      },
    ),
    "model-answer": toObject(
      {
        step: count,
        model: text,
        content: { type: "array", items: { allOf: [part, ofTypes(["tool-call"], { input: text })] } },
        finishReason: text,
        usage,
        durationMs: number,
        skills: texts,
      },
      {
        cost: number,
        prompt: text,
        tools: text,
        toolChanges: { type: "object", additionalProperties: { type: ["string", "null"] } },
        warnings: texts,
        unknown: { type: "array" },
      },
    ),
    "message-added": toObject({ step: count, reason: text, message }),
    "memory-compacted": toObject({ step: count, messages }, { answer: counted }),
    "answer-dropped": toObject({ step: count, answer: counted }),
    "call-changed": toObject({ step: count, call: text, input: present }),
    "approval-asked": toObject({ step: count, approval: text, id: text, tool: text, input: present }),
    "approval-decided": toObject({ approval: text, decision: { enum: ["approve", "deny"] } }, { reason: text }),
    "guard-acted": toObject({ step: count, guard: text, place: text, verdict: text }, { reason: text }),
    "lease-start": toObject({ epoch: count, worker: text }),
    "lease-end": toObject({ reason: text }),
    "step-intent": toObject({ step: name, attempt: count }),
    "step-outcome": toObject({ step: name, output: present }),
    "step-review": toObject({ step: name }),
    "step-reset": toObject({ step: name }),
    "run-end": toObject({ outcome }),
  }),
);

/** What came of a call, as a line of a journal says it. */
export const callOutcome: JsonSchema = toObject({ output: outcome });

function toObject(
  needed: Readonly<Record<string, JsonSchema>>,
  others: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  return { type: "object", properties: { ...needed, ...others }, required: Object.keys(needed) };
}

function ofTypes(types: readonly string[], needed: Readonly<Record<string, JsonSchema>>): JsonSchema {
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  return { if: { properties: { type: { enum: types } } }, then: toObject(needed) };
}
