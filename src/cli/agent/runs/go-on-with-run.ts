import type { RunOptions } from "../../../agent/agent-options.ts";
import type { AgentRun } from "../../../agent/agent-run.ts";
import type { AgentEvent } from "../../../agent/events.ts";
import type { RunResult } from "../../../agent/run-result.ts";
import type { Store } from "../../../core/store.ts";
import type { Approve } from "../../../workspace/call/call-options.ts";
import type { Model } from "../../../models/model.ts";
import type { Answer, Invocation } from "../../cli-command.ts";
import { getText } from "../../options.ts";
import { toPrintableLine } from "../../printable.ts";
import { usageError } from "../../usage-error.ts";
import { checkModel, nameModel } from "../choose-model.ts";
import { readAgentOptions } from "../read-agent-options.ts";
import { createShownRun, finishRun } from "../show-run.ts";
import { toRunAnswer } from "../view/describe-end.ts";
import { renderCostTable } from "../view/show-cost.ts";
import { withAgent, type OpenAgent } from "../with-agent.ts";
import { needRun, type ReadRun } from "./read-run.ts";
import { recallOrigin, toNext } from "./run-origin.ts";

/** A run that a command goes on with, and what it needs for that. */
export interface KnownRun {
  readonly open: OpenAgent;
  readonly store: Store;
  readonly run: ReadRun;
  /**
   * The options for going on: who is asked, who is told, which model answers.
   *
   * @throws {KitbagError} what keeps the model from being asked that answered until now.
   */
  toOptions(): Promise<RunOptions>;
  /** Asks the person; nothing if nobody is there. */
  readonly approve: Approve | undefined;
  /** Shows a run until it is over. */
  finish(run: AgentRun): Promise<RunResult>;
  /** What the command answers then. */
  toAnswer(run: AgentRun, result: RunResult): Answer;
}

/** Does `work` with an agent and the run that the first word names; `step` is up to where it must be sound, if not to its end. */
export async function withRun(
  invocation: Invocation,
  work: (known: KnownRun) => Promise<Answer>,
  step?: number,
): Promise<Answer> {
  const { skills: directories = [], ...origin } = await recallOrigin(invocation, step);
  const wishes = { ...origin, ...readAgentOptions(invocation), directories, asksModel: false };
  return withAgent(invocation, wishes, async (open) => {
    const { store } = open;
    if (store === undefined) throw usageError("Cannot go on with a run: nothing is kept with --store none");
    const run = await needRun(store, invocation.args[0] ?? "", { step });
    const shown = createShownRun(invocation, open);
    return work({
      open,
      store,
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
        return toGoneOn(invocation, going, result);
      },
    });
  });
}

function isRefused(event: AgentEvent): boolean {
  return event.type === "task-end" && event.result.error?.code === "run-leased";
}

/**
 * The model to go on with, if it is not the one that the run itself names.
 *
 * @throws {KitbagError} `usage-invalid` if nobody can tell which one that is; what keeps it from being asked.
 */
async function chooseModelOf(
  { id, folded }: ReadRun,
  invocation: Invocation,
  open: OpenAgent,
): Promise<string | undefined> {
  const named = getText(invocation.options, "model");
  const { requestedModel, model } = folded.start;
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

function toGoneOn(invocation: Invocation, run: AgentRun, result: RunResult): Answer {
  const { terminal, json } = invocation;
  if (!json && result.usage.modelCalls > 0) terminal.note(`\n${renderCostTable(run.breakdown(), terminal)}\n`);
  return toRunAnswer(result, toNext(invocation, run.id));
}
