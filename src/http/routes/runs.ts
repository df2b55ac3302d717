import { createJournalReader } from "../../agent/log/journal-events.ts";
import { KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { findOwnRuns } from "../../gate/own-runs.ts";
import { createRuns, type RunSummary } from "../../records/runs/create-runs.ts";
import type { RunEntry } from "../../records/runs/run-records.ts";
import { followRun } from "../live-runs.ts";
import { operation } from "../operation.ts";
import { listOf } from "../shapes.ts";
import {
  begun,
  needFreeId,
  needLive,
  needRun,
  needRunRights,
  needStore,
  resumeRun,
  startRun,
  streamRun,
  toResult,
} from "../start-runs.ts";

const text = { type: "string" } as const;

const summaryShape = {
  type: "object",
  properties: {
    id: text,
    status: { ...text, description: "running, idle, waiting, ended …" },
    events: { type: "integer", description: "The position of the last line of its log" },
    changed: { ...text, format: "date-time" },
  },
  required: ["id", "status", "events", "changed"],
} as const;

/** How a run ended or paused. */
const resultShape = {
  type: "object",
  properties: {
    run: text,
    status: { enum: ["ok", "cut", "refused", "failed", "stopped", "paused", "running"] },
    text: { ...text, description: "The last text of the model" },
    output: { description: "The answer" },
    steps: { type: "integer" },
    cost: { type: "number", description: "In US dollars" },
    usage: {},
    skills: { type: "array", items: text },
    reason: { description: "Why it was stopped" },
    error: { description: "Why it failed" },
    approvals: { type: "array", items: text, description: "Approvals that it waits for" },
  },
  required: ["run", "status", "text", "steps", "usage", "skills"],
} as const;

const taskInput = {
  type: "object",
  properties: {
    task: { ...text, minLength: 1, description: "What the agent is to do" },
    id: { ...text, minLength: 1, maxLength: 200, description: "The id of the run; a random one if it is left out" },
    conversation: { ...text, minLength: 1, maxLength: 200, description: "The conversation to continue" },
    skills: { type: "array", items: text, description: "Skills that are open from the beginning" },
    wait: { type: "boolean", default: true, description: "Whether the answer comes when the run has ended or paused" },
  },
  required: ["task"],
  additionalProperties: false,
} as const;

const goOnInput = {
  type: "object",
  properties: {
    agent: { ...text, description: "The agent that goes on with it; needed if there are several" },
    wait: { type: "boolean", default: true },
  },
  additionalProperties: false,
} as const;

/** Agents and their runs. */
export const runOperations = {
  "agents.list": operation("agents.list", {
    summary: "Lists the agents that you can give tasks.",
    answer: listOf("Agents", { type: "object", properties: { name: text }, required: ["name"] }),
    handle: ({ parts }) => ({ items: Object.keys(parts.agents ?? {}).map((name) => ({ name })) }),
  }),
  "runs.start": operation("runs.start", {
    summary: "Gives an agent a task; as a stream (accept: text/event-stream) with the events of the run.",
    scope: "runs",
    input: taskInput,
    answer: resultShape,
    async handle(context, input) {
      await needFreeId(context, input.id);
      const run = startRun(context, input);
      return input.wait ? toResult(await run.result) : begun(run);
    },
    async stream(context, input) {
      await needFreeId(context, input.id);
      return streamRun(context, startRun(context, input));
    },
  }),
  "runs.list": operation("runs.list", {
    summary: "Lists your runs, those that changed last first.",
    scope: "runs",
    input: {
      type: "object",
      properties: { limit: { type: "integer", minimum: 1, maximum: 1000, default: 100 } },
      additionalProperties: false,
    },
    answer: listOf("Runs", summaryShape),
    async handle(context, { limit }) {
      const found = await findOwnRuns({ ...context.parts, ...context, store: needStore(context) }, 10_000);
      return {
        items: found
          .toSorted((left, right) => right.time - left.time)
          .slice(0, limit)
          .map(toSummary),
      };
    },
  }),
  "runs.get": operation("runs.get", {
    summary: "Reads a run with the events of its log, a page at a time.",
    scope: "runs",
    input: {
      type: "object",
      properties: {
        after: { type: "integer", minimum: 0, default: 0, description: "The last position that you have" },
        limit: { type: "integer", minimum: 1, maximum: 1000, default: 1000 },
      },
      additionalProperties: false,
    },
    answer: {
      type: "object",
      properties: {
        ...summaryShape.properties,
        items: { type: "array", items: {}, description: "Events with their positions" },
      },
      required: [...summaryShape.required, "items"],
    },
    async handle(context, { id, after, limit }) {
      const summary = await needRun(context, id);
      const read = createJournalReader(id);
      const items: JsonValue[] = [];
      for await (const entry of readAll(needStore(context), id)) {
        const event = read(entry);
        if (event !== undefined && event.position > after) items.push({ position: event.position, ...event.event });
        if (items.length === limit) break;
      }
      return { ...toSummary(summary), items };
    },
  }),
  "runs.events": operation("runs.events", {
    summary:
      "Follows a run as a stream: its log from a position on (Last-Event-ID, or after), and what passes while it works. Without a stream: as runs.get.",
    scope: "runs",
    input: {
      type: "object",
      properties: { after: { type: "integer", minimum: 0, default: 0 } },
      additionalProperties: false,
    },
    answer: {},
    async handle(context, { id }) {
      return toSummary(await needRun(context, id));
    },
    async stream(context, { id, after }) {
      const { entries } = await needRun(context, id);
      const last = Number(context.header("last-event-id") ?? after);
      if (!Number.isSafeInteger(last) || last < 0 || last > entries)
        throw new KitbagError("request-refused", {
          status: 400,
          reason: "Last-Event-ID must be a position of this run's log",
        });
      return followRun({ store: needStore(context), live: context.live, id, after: last, signal: context.signal });
    },
  }),
  "runs.say": operation("runs.say", {
    summary: "Says something to the model of a run while it works.",
    scope: "runs",
    input: {
      type: "object",
      properties: { text: { ...text, minLength: 1 } },
      required: ["text"],
      additionalProperties: false,
    },
    answer: summaryShape,
    async handle(context, { id, text: said }) {
      const summary = await needRun(context, id);
      needRunRights(context);
      needLive(context, id).steer(said);
      return toSummary(summary);
    },
  }),
  "runs.stop": operation("runs.stop", {
    summary: "Stops a run: calls that are running are cancelled.",
    scope: "runs",
    answer: resultShape,
    async handle(context, { id }) {
      await needRun(context, id);
      const run = needLive(context, id);
      run.stop();
      return toResult(await run.result);
    },
  }),
  "runs.resume": operation("runs.resume", {
    summary: "Goes on with a run that was interrupted, or paused for an approval.",
    scope: "runs",
    input: goOnInput,
    answer: resultShape,
    async handle(context, { id, agent, wait }) {
      await needRun(context, id);
      const run = resumeRun(context, id, agent);
      return wait ? toResult(await run.result) : begun(run);
    },
    async stream(context, { id, agent }) {
      const summary = await needRun(context, id);
      return streamRun(context, resumeRun(context, id, agent), summary.entries);
    },
  }),
} as const;

async function* readAll(store: Store, id: string): AsyncIterable<RunEntry> {
  const runs = createRuns({ store });
  for (let after = 0; ;) {
    const page = await runs.read(id, { after, limit: 1000 });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.position;
  }
}

function toSummary({ id, status, entries, time }: RunSummary): {
  readonly id: string;
  readonly status: string;
  readonly events: number;
  readonly changed: string;
} {
  return { id, status, events: entries, changed: new Date(time).toISOString() };
}
