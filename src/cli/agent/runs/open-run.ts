import { plural } from "../../render.ts";
import { shortenText } from "../../../core/cut-text.ts";
import { setTimeout as sleep } from "node:timers/promises";

import type { RunOptions } from "../../../agent/agent-options.ts";
import type { AgentRun } from "../../../agent/agent-run.ts";
import type { AgentEvent } from "../../../agent/events.ts";
import type { RunResult } from "../../../agent/run-result.ts";
import type { Approve } from "../../../workspace/call/call-options.ts";
import type { Model } from "../../../models/model.ts";
import { type Answer, type Invocation, usageError } from "../../cli-command.ts";
import { getText } from "../../options.ts";
import { toPrintableLine, toPrintable } from "../../printable.ts";
import { checkModel, nameModel, readAgentOptions } from "../agent-options.ts";
import { createShownRun, finishRun } from "../show-run.ts";
import { noteCosts, toRunAnswer } from "../view/describe-end.ts";
import { openAgent, type OpenAgent } from "../open-agent.ts";
import { findRoot, needRun, type ReadRun } from "./read-run.ts";
import { recallOrigin, toNext } from "./run-origin.ts";

/** A run that a command goes on with, and what it needs for that. */
export interface KnownRun {
  readonly open: OpenAgent;
  readonly run: ReadRun;
  /**
   * The options for going on: who is asked, who is told, which model answers.
   *
   * @throws {KitbagError} what keeps the model from being asked that answered until now.
   */
  toOptions(): Promise<RunOptions>;
  /** Asks the user; missing where no user can be asked. */
  readonly approve: Approve | undefined;
  /** Shows a run until it is over. */
  finish(run: AgentRun): Promise<RunResult>;
  /** What the command answers then. */
  toAnswer(run: AgentRun, result: RunResult): Answer;
}

/** Does `work` with an agent and the run that the first word names, which must be sound up to `step`, or to its end. */
export async function withRun(
  invocation: Invocation,
  work: (known: KnownRun) => Promise<Answer>,
  step?: number,
): Promise<Answer> {
  const { skills: directories = [], ...origin } = await recallOrigin(invocation, step);
  const wanted = { ...origin, ...readAgentOptions(invocation), directories, asksModel: false };
  const open = await openAgent(invocation, wanted);
  try {
    if (open.store === undefined) throw usageError("Cannot go on with a run: nothing is kept with --store none");
    return await work(toKnown(invocation, open, await needRun(open.store, invocation.args[0] ?? "", { step })));
  } finally {
    await open.close();
  }
}

function toKnown(invocation: Invocation, open: OpenAgent, run: ReadRun): KnownRun {
  const shown = createShownRun(invocation, open);
  return {
    open,
    run,
    async toOptions() {
      const model = await chooseModelOf(run, invocation, open);
      return {
        ...(model !== undefined && { model }),
        // An attempt that does not get the run is no end of it.
        onEvent: (event) => (isRefused(event) ? undefined : shown.onEvent(event)),
        ...(open.user !== undefined && { user: open.user }),
        ...(shown.approve !== undefined && { approve: shown.approve }),
      };
    },
    approve: shown.approve,
    finish: (going) => finishRun(going, shown.view),
    toAnswer(going, result) {
      shown.conclude(result);
      const { terminal, json } = invocation;
      if (!json) noteCosts(going, result, terminal);
      return toRunAnswer(result, toNext(invocation, going.id));
    },
  };
}

function isRefused(event: AgentEvent): boolean {
  return event.type === "task-end" && event.result.error?.code === "run-leased";
}

/**
 * The model to go on with, if it is not the one that the run itself names.
 *
 * @throws {KitbagError} `usage-invalid` if it is not known which one that is; what keeps it from being asked.
 */
async function chooseModelOf(
  { id, folded }: ReadRun,
  invocation: Invocation,
  open: OpenAgent,
): Promise<string | undefined> {
  const named = getText(invocation.options, "model");
  const { requestedModel, model, path } = folded.start;
  // A run that was made from that of a sub-agent has the model of that agent.
  if (path !== undefined) return named;
  await checkModel(named ?? requestedModel ?? open.model, invocation.env);
  if (named !== undefined || requestedModel !== undefined) return named;
  const now = await findModelName(open.model, invocation);
  if (now === model) return undefined;
  throw usageError(
    `Cannot go on with the run ${id}: it was begun with ${toPrintableLine(model)}, and here it would be ${now}; say which with --model`,
  );
}

/** `provider/model`, as runs keep it. */
async function findModelName(model: Model | string, { env }: Pick<Invocation, "env">): Promise<string> {
  if (typeof model !== "string") return nameModel(model);
  const { resolveModel } = await import("../../../models/resolve/resolve-model.ts");
  return nameModel(await resolveModel(model, { env }));
}

/** Makes a run that is the same as another up to a step, and goes on with it. */
export async function forkRun(invocation: Invocation): Promise<Answer> {
  const { terminal, json, options } = invocation;
  const step = readStep(getText(options, "step"));
  const say = getText(options, "say");
  const fork = async ({ open, run, toOptions, finish, toAnswer }: KnownRun): Promise<Answer> => {
    const last = step ?? run.steps;
    const going = open.agent.fork(run.id, last, say === undefined ? {} : { say }, await toOptions());
    if (!json) terminal.note(`${going.id} goes on behind step ${last} of ${run.id}\n`);
    return toAnswer(going, await finish(going));
  };
  return withRun(invocation, fork, step);
}

function readStep(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,7}$/u.test(text)) return Number(text);
  throw usageError(`Cannot use --step ${text}: expected a whole number; 0 is before the first answer`);
}

/** Goes through a run again without a model and without tools, and says whether it would be the same now. */
export async function replayRun(invocation: Invocation): Promise<Answer> {
  return withRun(invocation, async ({ open, run }) => {
    const report = await open.agent.replay(run.id);
    if (report.divergence === undefined) {
      return { document: report, text: `The same: ${plural(report.steps, "step")}` };
    }
    const { step, what, expected, found } = report.divergence;
    const text = [
      `Not the same at step ${step}: ${what}`,
      `  then: ${shortenText(expected, 300)}`,
      `  now:  ${shortenText(found, 300)}`,
    ].join("\n");
    return { document: report, text: toPrintable(text), exitCode: 1 };
  });
}

/** The run of a sub-agent goes on with the outermost run of its tree. */
async function toRoot(known: KnownRun, invocation: Invocation): Promise<KnownRun> {
  const { open, run } = known;
  const root = open.store && (await findRoot(open.store, run));
  if (root === undefined || root.id === run.id) return known;
  invocation.terminal.note(`${run.id} is the run of a sub-agent: ${root.id} goes on with it\n`);
  return toKnown(invocation, open, root);
}

/** A lease of a process that has died ends in 10 seconds; one that is still held after this belongs to one that lives. */
const patienceMs = 15_000;
const pauseMs = 500;

/** Goes on with a run. One that a dead process had is waited for. */
export async function resumeRun(invocation: Invocation): Promise<Answer> {
  return withRun(invocation, async (known) => {
    const { open, run, toOptions, finish, toAnswer } = await toRoot(known, invocation);
    // It goes on as the user who began it.
    const { user: _person, ...options } = await toOptions();
    const until = performance.now() + patienceMs;
    for (let attempt = 1; ; attempt += 1) {
      const going = open.agent.resume(run.id, options);
      const result = await finish(going);
      if (result.error?.code !== "run-leased" || performance.now() > until) return toAnswer(going, result);
      if (attempt === 1) {
        const wait = "if it has died, the run is free within 10 seconds: waiting";
        invocation.terminal.note(`Another process has this run; ${wait}\n`);
      }
      await sleep(pauseMs);
    }
  });
}
