import type { JsonValue } from "../../core/json.ts";
import { KitbagError } from "../../core/errors.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Approve } from "../../workspace/call/call-options.ts";
import type { Agent } from "../agent-interface.ts";
import { type AgentParts, partsOf, readJournal } from "../agent-parts.ts";
import type { ModelAnswered } from "../events.ts";
import { refuse } from "../expectations.ts";
import { foldLines } from "../log/fold-journal.ts";
import { recordedModel } from "../log/recorded-model.ts";
import { planCalls, type PlannedCall } from "../run/plan-calls.ts";
import { addToolChanges } from "../run/shown-tools.ts";
import { labelOutcome } from "../run/to-assistant-message.ts";
import { createExposure, openRunSession } from "../run/to-parts.ts";
import { followPath } from "../sub-agents/open-child.ts";

/** The names of the tools that a model was shown before each of its answers, by step, as the journal says. */
export function shownToolsOf(answers: readonly ModelAnswered[]): ReadonlyMap<number, readonly string[]> {
  const shown = new Map<string, string>();
  return new Map(
    answers.map((answer) => {
      addToolChanges(shown, answer);
      return [answer.step, [...shown.keys()]];
    }),
  );
}

/** A call of a recorded run that is made again. */
export interface TriedCall {
  readonly run: string;
  /** `step.call`. */
  readonly call: string;
  /** @default the input that the model gave */
  readonly input?: JsonValue;
  readonly approve?: Approve | undefined;
}

/**
 * Makes a call of a recorded run again: with the agent that made it, the skills that were open, and the tools that the model saw, also
 * those of Kitbag itself. Nothing is written into the journal.
 *
 * @throws {KitbagError} `call-missing` if the run asks for no such call; `run-not-found`, `run-damaged`, `run-incomplete`.
 */
export async function tryCall(agent: Agent, { run, call, input, approve }: TriedCall): Promise<ToolOutcome> {
  const outermost = partsOf(agent) ?? refuse("agent", agent, "an agent that createAgent made");
  const { start, answers, handoffs } = foldLines(run, await readJournal(outermost, run));
  const [step, index] = call.split(".").map(Number);
  const answer = answers.find((one) => one.step === step);
  if (answer === undefined) throw new KitbagError("call-missing", { call: `${run}:${call}` });
  const taken = handoffs.filter((handoff) => handoff.step < answer.step).map(({ tool }) => tool);
  const parts = followPath(outermost, run, [...(start.path ?? []), ...taken]);
  const session = openRunSession(parts, {});
  try {
    for (const skill of answer.skills) await session.activateSkill(skill);
    const planned = plan(parts, session, answer)[index ?? -1];
    if (planned === undefined) throw new KitbagError("call-missing", { call: `${run}:${call}` });
    const { dispatch, address } = planned;
    const options = approve === undefined ? {} : { approve };
    const given = input ?? planned.input;
    const outcome = await (dispatch === undefined
      ? session.call(address, given, options)
      : dispatch.run(given, options));
    return labelOutcome(planned, outcome);
  } finally {
    await session.close();
  }
}

function plan(
  { options: { instructions, exposure: name } }: AgentParts,
  session: ReturnType<typeof openRunSession>,
  answer: ModelAnswered,
): readonly PlannedCall[] {
  const exposure = createExposure({ session, model: recordedModel([answer]), instructions, name });
  return planCalls(answer, session, exposure);
}
