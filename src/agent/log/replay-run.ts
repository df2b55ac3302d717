import { isKitbagError } from "../../core/errors.ts";
import type { RunEntry } from "../../records/runs/run-records.ts";
import type { AgentParts } from "../agent-parts.ts";
import type { MemoryCompacted } from "../events.ts";
import { createUsageCounter } from "../cost/usage-counter.ts";
import type { Memory } from "../memory/memory.ts";
import { toRule } from "../run/output-rule.ts";
import { toParts } from "../run/prepare-run.ts";
import { createEventFeed } from "../run/event-feed.ts";
import { runLoop } from "../run/run-loop.ts";
import { RunState } from "../run/run-state.ts";
import { splitSkills } from "../run/told-skills.ts";
import { foldJournal, type Folded } from "./fold-journal.ts";
import { fromKeptMessage } from "./kept-files.ts";
import { readJournal } from "./read-journal.ts";
import { recordedModel } from "./recorded-model.ts";
import { createReplayLog, ReplayEnd, type Divergence } from "./replay-log.ts";
import type { KeptEvent } from "./run-log.ts";

/** What came of a replay. */
export interface ReplayReport {
  readonly run: string;
  readonly status: "same" | "diverged";
  /** How many answers of the model were the same, or were until something was not. */
  readonly steps: number;
  /** Where it was not the same for the first time. */
  readonly divergence?: Divergence;
}

const keptTypes = new Set(["task-start", "model-answer", "message-added", "memory-compacted"]);

/**
 * Goes through a run again with the answers and outcomes of its journal: neither the model nor a tool is asked.
 *
 * @throws {KitbagError} `run-not-found`, `run-damaged`.
 */
export async function replayRun(agent: AgentParts, id: string): Promise<ReplayReport> {
  const entries = await readJournal(agent, id);
  const folded = foldJournal(id, entries);
  const recorded = entries.flatMap(({ value }) => (keptTypes.has(value.type) ? [value as unknown as KeptEvent] : []));
  const session = agent.options.workspace.openSession();
  try {
    const { untold, told } = splitSkills(folded.start.skills, folded.start.messages);
    for (const skill of untold) await session.activateSkill(skill);
    const run = createReplay(agent, { id, session, folded, recorded });
    for (const skill of told) await session.activateSkill(skill);
    run.parts.exposure.announcement();
    return await compareRun(run, folded, isDone(entries));
  } finally {
    await session.close();
  }
}

function isDone(entries: readonly RunEntry[]): boolean {
  const last = entries.at(-1)?.value;
  return last?.type === "run-end" && (last["outcome"] as { readonly status?: unknown }).status === "ok";
}

interface ReplayParts {
  readonly id: string;
  readonly session: ReturnType<AgentParts["options"]["workspace"]["openSession"]>;
  readonly folded: Folded;
  readonly recorded: readonly KeptEvent[];
}

function createReplay(agent: AgentParts, { id, session, folded, recorded }: ReplayParts): RunState {
  const { start, answers } = folded;
  const model = recordedModel(answers);
  const ready = { model, name: start.model, priceOf: () => 0 };
  const log = createReplayLog(recorded.slice(1), folded);
  const output = start.output && toRule(start.output);
  const given = { id, options: {}, feed: createEventFeed(undefined), signal: new AbortController().signal };
  const parts = toParts(agent, given, { ready, session, log, output });
  const unlimited = { ...parts.limits, maxSteps: Infinity, maxMs: Infinity, maxTokens: Infinity, maxCost: Infinity };
  const run = new RunState(
    {
      ...parts,
      hooks: toSteering(recorded, () => run),
      memory: toMemory(recorded),
      limits: unlimited,
      approve: undefined,
      // The journal holds what they left.
      guards: [],
      // What was paid for once is not paid for again.
      counter: createUsageCounter(),
    },
    start.messages.map(fromKeptMessage),
  );
  for (const [approval, decided] of folded.decided) run.decided.set(approval, decided);
  run.done = folded.outcomes;
  run.changed = new Map(folded.changed);
  run.steering.push(...said(recorded, 0));
  return run;
}

/** What somebody said while the run went on is said again, behind the same answer. */
function toSteering(recorded: readonly KeptEvent[], run: () => RunState): RunState["parts"]["hooks"] {
  return { afterModel: ({ step }) => void run().steering.push(...said(recorded, step)) };
}

function said(recorded: readonly KeptEvent[], step: number): readonly string[] {
  return recorded.flatMap((event) => {
    if (event.type !== "message-added" || event.reason !== "steering" || event.step !== step) return [];
    const [part] = event.message.role === "user" ? event.message.content : [];
    return part?.type === "text" ? [part.text] : [];
  });
}

function toMemory(recorded: readonly KeptEvent[]): Memory {
  const compactions = recorded.filter((event): event is MemoryCompacted => event.type === "memory-compacted");
  return {
    isFull: () => compactions.length > 0,
    fit: async ({ step }) => {
      const found = compactions.find((event) => event.step === step);
      return found && { ...found, messages: found.messages.map(fromKeptMessage) };
    },
  };
}

async function compareRun(run: RunState, { answers }: Folded, isDone: boolean): Promise<ReplayReport> {
  try {
    await runLoop(run);
    await run.parts.log.whenSent();
  } catch (cause) {
    const { divergence } = toReplayEnd(cause, run.step > answers.length ? { step: run.step, isDone } : undefined);
    if (divergence !== undefined) {
      return { run: run.id, status: "diverged", steps: Math.max(0, divergence.step - 1), divergence };
    }
  }
  return { run: run.id, status: "same", steps: Math.min(run.step, answers.length) };
}

/** A question that the journal has no answer to is its end, unless the run was done there. */
function toReplayEnd(
  cause: unknown,
  unanswered: { readonly step: number; readonly isDone: boolean } | undefined,
): ReplayEnd {
  if (cause instanceof ReplayEnd) return cause;
  if (unanswered === undefined || !isKitbagError(cause, "model-failed")) throw cause;
  const { step, isDone } = unanswered;
  const what = "the model is asked once more";
  return new ReplayEnd(isDone ? { step, what, expected: "the end of the run", found: "a question" } : undefined);
}
