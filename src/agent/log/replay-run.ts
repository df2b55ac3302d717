import { isKitbagError } from "../../core/errors.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { RunEntry } from "../../records/runs/run-records.ts";
import { type AgentParts, needRuns, readJournal } from "../agent-parts.ts";
import { createUsageCounter } from "../cost/usage-counter.ts";
import type { MemoryCompacted, ModelAnswered, RunLimits } from "../events.ts";
import type { Memory } from "../memory/memory-options.ts";
import { createEventFeed } from "../run/event-feed.ts";
import { toRule } from "../run/output-rule.ts";
import { openRunSession, toParts } from "../run/to-parts.ts";
import { runLoop } from "../run/run-loop.ts";
import { RunState } from "../run/run-state.ts";
import { addToolChanges, describeToolChanges } from "../run/shown-tools.ts";
import { splitSkills } from "../run/told-skills.ts";
import { followPath } from "../sub-agents/open-child.ts";
import { listBelow } from "../sub-agents/run-tree.ts";
import { type Folded, foldJournal } from "./fold-journal.ts";
import { recordedModel } from "./recorded-model.ts";
import { fromKeptMessage, type KeptEvent, type RunLog } from "./run-log.ts";

/** The result of a replay. */
export interface ReplayReport {
  readonly run: string;
  readonly status: "same" | "diverged";
  /** How many model answers were compared and equal, before the end or the first difference. */
  readonly steps: number;
  /** The first difference. */
  readonly divergence?: Divergence;
}

const keptTypes = new Set(["task-start", "model-answer", "message-added", "memory-compacted", "agent-changed"]);

/**
 * Runs the agent loop again with the model answers and tool outcomes of the journal, and compares; then those of its sub-agents. No model
 * is asked and no tool runs.
 *
 * @throws {KitbagError} `run-not-found`, `run-damaged`.
 */
export async function replayRun(agent: AgentParts, id: string): Promise<ReplayReport> {
  const report = await replayOne(agent, id);
  if (report.status === "diverged") return report;
  for (const child of await listBelow(needRuns(agent.runs), id)) {
    const { status, divergence } = await replayOne(agent, child.id);
    if (divergence !== undefined) return { ...report, status, divergence: { ...divergence, run: child.id } };
  }
  return report;
}

async function replayOne(outermost: AgentParts, id: string): Promise<ReplayReport> {
  const entries = await readJournal(outermost, id);
  const folded = foldJournal(id, entries);
  const agent = followPath(outermost, id, folded.start.path ?? []);
  const kept = entries.flatMap(({ value }) => (keptTypes.has(value.type) ? [value as unknown as KeptEvent] : []));
  const recorded = kept.filter((event, index) => !isRepeated(event, kept[index + 1]));
  const session = openRunSession(agent, {});
  try {
    const { untold, told } = splitSkills(folded.start.skills, folded.start.messages);
    for (const skill of untold) await session.activateSkill(skill);
    const run = createReplay(agent, { id, session, folded, recorded });
    for (const skill of told) await session.activateSkill(skill);
    run.parts.exposure.announcement();
    try {
      return await compareRun(run, folded, isDone(entries));
    } finally {
      await run.parts.session.close();
    }
  } finally {
    await session.close();
  }
}

function isDone(entries: readonly RunEntry[]): boolean {
  const last = entries.at(-1)?.value;
  return last?.type === "run-end" && (last["outcome"] as { readonly status?: unknown }).status === "ok";
}

/** A provider that finds a conversation too long has it compacted a second time before one question: the replay does it once. */
function isRepeated(event: KeptEvent, next: KeptEvent | undefined): boolean {
  return event.type === "memory-compacted" && next?.type === "memory-compacted" && event.step === next.step;
}

/** How far a run went is in its journal. */
const noLimits: Partial<RunLimits> = {
  maxSteps: Infinity,
  maxMs: Infinity,
  maxTokens: Infinity,
  maxCost: Infinity,
  maxContinuations: Infinity,
};

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
  const parts = toParts(agent, given, { ready, session, log, output, findModel: async () => ready });
  const unlimited = { ...parts.limits, ...noLimits };
  const run = new RunState(
    {
      ...parts,
      hooks: toSteering(recorded, () => run),
      memory: toMemory(recorded),
      limits: unlimited,
      approve: undefined,
      // The values in the journal are those after the guards.
      guards: [],
      // A replay costs nothing.
      counter: createUsageCounter(),
    },
    start.messages.map(fromKeptMessage),
  );
  for (const [approval, decided] of folded.decided) run.decided.set(approval, decided);
  run.done = folded.outcomes;
  run.changed = new Map(folded.changed);
  run.steering.push(...steeringTexts(recorded, 0));
  return run;
}

/** Repeats the steering messages of the recorded run, each after the same model answer. */
function toSteering(recorded: readonly KeptEvent[], run: () => RunState): RunState["parts"]["hooks"] {
  return { afterModel: ({ step }) => void run().steering.push(...steeringTexts(recorded, step)) };
}

function steeringTexts(recorded: readonly KeptEvent[], step: number): readonly string[] {
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
    lower: () => undefined,
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

/** A model request without an answer in the journal ends the replay. It is a difference only if the recorded run had ended there. */
function toReplayEnd(
  cause: unknown,
  unanswered: { readonly step: number; readonly isDone: boolean } | undefined,
): ReplayEnd {
  if (cause instanceof ReplayEnd) return cause;
  if (unanswered === undefined || !isKitbagError(cause, "model-failed")) throw cause;
  const { step, isDone } = unanswered;
  const what = "the agent makes one more model request";
  return new ReplayEnd(isDone ? { step, what, expected: "the end of the run", found: "a model request" } : undefined);
}

/** A difference between a replay and the recorded run. */
export interface Divergence {
  /** The run of the sub-agent that would differ. @default the run itself */
  readonly run?: string;
  readonly step: number;
  /** What differs, in words. */
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

/** Thrown to end a replay. */
class ReplayEnd extends Error {
  /** `undefined` if the journal is at its end. */
  readonly divergence: Divergence | undefined;

  constructor(divergence: Divergence | undefined) {
    super(divergence === undefined ? "The journal is at its end" : divergence.what);
    this.divergence = divergence;
  }
}

/** Makes a log that writes nothing: it compares each event with the next one of the journal. */
function createReplayLog(recorded: readonly KeptEvent[], { outcomes }: Folded): RunLog {
  let next = 0;
  // The loop does not await every event that it writes. A difference in such an event is thrown at the next call that it awaits.
  let end: ReplayEnd | undefined;
  const shown: Shown = { before: new Map(), now: new Map() };

  return {
    isKept: true,
    signal: undefined,
    async write(event) {
      // A replay knows every decision from the start, so it asks for no approval.
      if (event.type === "approval-asked") return;
      end ??= compare(recorded[next++], event, shown);
      if (end !== undefined) throw end;
    },
    send(event) {
      end ??= compare(recorded[next++], event, shown);
    },
    async whenSent() {
      if (end !== undefined) throw end;
    },
    async call({ name }) {
      const outcome: ToolOutcome | undefined = outcomes.get(name);
      if (end !== undefined) throw end;
      if (outcome === undefined) throw new ReplayEnd(undefined);
      return { outcome, recalled: true };
    },
    end: () => undefined,
    pause: () => undefined,
    close: () => undefined,
  };
}

/** The tools in the model requests of the recorded run and of the replay, by name, each with a digest. */
interface Shown {
  readonly before: Map<string, string>;
  readonly now: Map<string, string>;
}

function compare(expected: KeptEvent | undefined, found: KeptEvent, shown: Shown): ReplayEnd | undefined {
  if (expected === undefined) return new ReplayEnd(undefined);
  const step = "step" in expected ? expected.step : 0;
  const difference =
    findDifference("the next event is another one", expected.type, found.type) ??
    (expected.type === "model-answer" ? compareAnswers(expected, found as ModelAnswered, shown) : undefined) ??
    (expected.type === "message-added" && "message" in found
      ? findDifference("the agent adds another message", expected.message, found.message)
      : undefined);
  return difference && new ReplayEnd({ step, ...difference });
}

type Difference = Omit<Divergence, "step"> | undefined;

function compareAnswers(expected: ModelAnswered, found: ModelAnswered, shown: Shown): Difference {
  addToolChanges(shown.before, expected);
  addToolChanges(shown.now, found);
  return (
    findDifference("other skills are open", expected.skills, found.skills) ??
    compareTools(expected, found, shown) ??
    comparePrompts(expected.prompt, found.prompt)
  );
}

/** Compares digests of the prompt. In a fork, copied answers after the changed step have no digest. */
function comparePrompts(expected: string | undefined, found: string | undefined): Difference {
  if (expected === undefined) return undefined;
  const [messages, system] = expected.split(".");
  const [messagesNow, systemNow] = (found ?? "").split(".");
  return (
    findDifference("the model is shown another system text", system, systemNow) ??
    findDifference("the model is shown another conversation", messages, messagesNow)
  );
}

/** Compares digests of the tools, and names those that differ if the journal names them. */
function compareTools({ tools: expected }: ModelAnswered, { tools: found }: ModelAnswered, shown: Shown): Difference {
  const what = "the model is shown other tools";
  const difference = findDifference(what, expected, found);
  const changes = difference && describeToolChanges(shown.before, shown.now);
  if (changes === undefined) return difference;
  return { what: `${what}: ${changes}`, expected: nameTools(shown.before), found: nameTools(shown.now) };
}

function nameTools(tools: ReadonlyMap<string, string>): string {
  return [...tools.keys()].join(", ") || "none";
}

function findDifference(what: string, before: unknown, now: unknown): Difference {
  const [expected = "nothing", found = "nothing"] = [before, now].map((value) => JSON.stringify(value));
  return expected === found ? undefined : { what, expected, found };
}
