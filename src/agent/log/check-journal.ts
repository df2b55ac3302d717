import { describeProblem, KitbagError } from "../../core/errors.ts";
import { type JsonValue, showValue } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { checkStrictly } from "../../core/schema/validator.ts";
import type { ModelMessage } from "../../models/model.ts";
import type { RunEntry, RunEvent } from "../../records/runs/run-records.ts";
import type { MemoryCompacted, MessageAdded, ModelAnswered, TaskStart } from "../events.ts";
import { isCut } from "../run/to-assistant-message.ts";

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

/** Parts of messages and answers, as far as they are checked. Part types that Kitbag does not know are allowed. */
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

/** The outcome of a call. */
const outcome: JsonSchema = {
  ...toObject({ status: { enum: ["ok", "failed"] } }),
  if: { properties: { status: { const: "failed" } } },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: toObject({ error: toObject({ message: text }) }),
  else: toObject({ output: present }),
};

/** What the lines of a journal are like, by their types; those of others are left alone. */
const journalLines: ReadonlyMap<string, JsonSchema> = new Map(
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
        parent: toObject({ run: text, call: text }),
        path: texts,
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
        cutCall: text,
        unknown: { type: "array" },
      },
    ),
    "message-added": toObject({ step: count, reason: text, message }),
    "memory-compacted": toObject({ step: count, messages }, { answer: counted }),
    "answer-dropped": toObject({ step: count, answer: counted }),
    "call-changed": toObject({ step: count, call: text, input: present }),
    "call-spent": toObject({ step: count, call: text, tool: text }, { cost: number, usage: object }),
    "agent-changed": toObject({ step: count, call: text, tool: text, model: text }),
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

/** The outcome of a call, as a line of a journal. */
const callOutcome: JsonSchema = toObject({ output: outcome });

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

/**
 * Makes sure that the lines of a journal are what they should be.
 *
 * @throws {KitbagError} `run-damaged`
 */
export function checkJournal(run: string, entries: readonly RunEntry[]): void {
  takeSound(run, entries, Infinity);
}

/**
 * The lines of a journal up to the first that is damaged, if they say all that happened up to a step.
 *
 * @throws {KitbagError} `run-damaged` if they do not.
 */
export function takeSound(run: string, entries: readonly RunEntry[], step: number): readonly RunEntry[] {
  const reader = new JournalReader();
  for (const [index, { position, value }] of entries.entries()) {
    const line = index + 1;
    const problem = position === line ? reader.read(value) : "it is missing";
    if (problem === undefined) continue;
    const { soundStep } = reader;
    if (soundStep !== undefined && step <= soundStep) return entries.slice(0, index);
    throw new KitbagError("run-damaged", {
      run,
      line,
      problem,
      ...(soundStep !== undefined && { soundStep }),
    });
  }
  return entries;
}

/** The names of calls among those of steps. */
const callName = /^\d+\.\d+$/u;

/** Types of lines that are about what an agent does. */
const needsStart: ReadonlySet<string> = new Set([
  "model-answer",
  "message-added",
  "memory-compacted",
  "answer-dropped",
  "call-changed",
  "call-spent",
  "agent-changed",
  "approval-asked",
  "approval-decided",
]);

class JournalReader {
  #hasStart = false;
  #answers = 0;
  /** Requested calls, begun calls, and the unfinished calls of the last answer. */
  readonly #asked = new Set<string>();
  readonly #begun = new Set<string>();
  #open = new Set<string>();

  /** The last step of which all is known; none if not even the task is. */
  get soundStep(): number | undefined {
    if (!this.#hasStart) return undefined;
    return this.#open.size === 0 ? this.#answers : this.#answers - 1;
  }

  /** Reads the next line. Answers with what is wrong with it, if something is. */
  read(value: JsonValue): string | undefined {
    const { type } = (value ?? {}) as Partial<RunEvent>;
    if (typeof type !== "string") return `found ${showValue(value)}, expected an object with a type`;
    const schema = journalLines.get(type);
    const [problem] = schema === undefined ? [] : checkStrictly(schema, value);
    return problem === undefined ? this.#follow(type, value as RunEvent) : `${type}: ${describeProblem(problem)}`;
  }

  /** Whether a line can come behind those before. */
  #follow(type: string, value: RunEvent): string | undefined {
    if (!this.#hasStart && needsStart.has(type)) return `${type} before the task of the run (task-start)`;
    switch (type) {
      case "task-start":
        return this.#start(value as unknown as TaskStart);
      case "message-added":
        return checkAddresses([(value as unknown as MessageAdded).message]);
      case "memory-compacted":
        return checkAddresses((value as unknown as MemoryCompacted).messages);
      case "model-answer":
        return this.#answer(value as unknown as ModelAnswered);
      case "step-intent":
        this.#begun.add(value["step"] as string);
        return undefined;
      case "step-outcome":
        return this.#end(value);
      default:
        return undefined;
    }
  }

  #start({ messages, earlier }: TaskStart): string | undefined {
    if (this.#hasStart) return "a second task-start";
    if (earlier > messages.length) return `task-start has ${messages.length} messages, and ${earlier} before the run`;
    const problem = checkAddresses(messages);
    this.#hasStart = problem === undefined;
    return problem;
  }

  #answer(answer: ModelAnswered): string | undefined {
    const { step, content } = answer;
    if (step !== this.#answers + 1) return `model-answer ${step} behind model-answer ${this.#answers}`;
    this.#answers = step;
    const calls = content.filter((item) => item.type === "tool-call" && item.providerExecuted !== true);
    this.#open = new Set(isCut(answer) ? [] : calls.map((_call, index) => `${step}.${index}`));
    for (const name of this.#open) this.#asked.add(name);
    return undefined;
  }

  #end(value: RunEvent): string | undefined {
    const name = value["step"] as string;
    // Steps that are not the agent's own are not checked.
    if (!this.#hasStart || !callName.test(name)) return undefined;
    if (!this.#asked.has(name)) return `step-outcome of the call ${name}, which no model-answer asks for`;
    if (!this.#begun.has(name)) return `step-outcome of the call ${name}, which has no step-intent`;
    const [problem] = checkStrictly(callOutcome, value);
    if (problem !== undefined) return `step-outcome: ${describeProblem(problem)}`;
    this.#open.delete(name);
    return undefined;
  }
}

/** Addresses of pictures are texts here, and must be addresses again. */
function checkAddresses(messages: readonly ModelMessage[]): string | undefined {
  for (const { role, content } of messages) {
    const files = role === "system" ? [] : content.flatMap((part) => (part.type === "file" ? [part.data] : []));
    const wrong = files.find((data) => data.type === "url" && !URL.canParse(String(data.url)));
    if (wrong !== undefined) return "an image with an invalid URL";
  }
  return undefined;
}
