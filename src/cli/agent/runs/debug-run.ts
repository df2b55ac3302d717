import { isAt, type DebugAction, type DebugStop } from "../../../agent/debug/create-debugger.ts";
import { shownToolsOf, tryCall } from "../../../agent/debug/try-call.ts";
import type { AgentCall } from "../../../agent/hooks.ts";
import type { ForkChanges } from "../../../agent/log/fork-run.ts";
import type { ToolOutcome } from "../../../core/outcome.ts";
import type { Workspace } from "../../../workspace/workspace.ts";
import { type Answer, type Invocation, usageError } from "../../cli-command.ts";
import { askAtStop } from "../debug/ask-at-stop.ts";
import { openCommandLines } from "../../debug/lines.ts";
import { readBreakpoints } from "../debug/parse-breakpoints.ts";
import { callsOf, type ReadRun } from "./read-run.ts";
import { withRun, type KnownRun } from "./open-run.ts";

/** Goes through a run that is recorded. What is changed there becomes a run of its own: the recorded one stays as it is. */
export async function debugRun(invocation: Invocation): Promise<Answer> {
  if (invocation.json) throw usageError("Cannot use --json with kitbag runs debug: a person must read the questions");
  const breakpoints = [...readBreakpoints(invocation)];
  return withRun(invocation, async (known) => {
    let steps = breakpoints.length === 0;
    const lines = openCommandLines(invocation.terminal);
    try {
      for (const place of toPlaces(known.run, known.open.workspace)) {
        if (!steps && !breakpoints.some((breakpoint) => isAt(breakpoint, place.stop))) continue;
        const action = await askAtStop(place.stop, lines, { terminal: invocation.terminal, breakpoints });
        if (action.action === "stop") return { document: undefined };
        if (isChange(action)) return await goAnotherWay(invocation, known, place, action);
        steps = action.action === "step";
      }
      return { document: undefined, text: `The run is at its end: ${known.run.status}` };
    } finally {
      lines.close();
    }
  });
}

function isChange(action: DebugAction): boolean {
  return action.action === "retry" || "input" in action || "outcome" in action;
}

/** A place of a recorded run where one can stop. */
interface Place {
  readonly stop: DebugStop;
  /** `step.call`, if it is a call. */
  readonly name?: string;
}

/** All places of a run, in order. */
function toPlaces(run: ReadRun, workspace: Workspace): readonly Place[] {
  const places: Place[] = [];
  const { answers, questions, changed, outcomes } = run.folded;
  const shown = shownToolsOf(answers);
  for (const answer of answers) {
    const { step } = answer;
    const { messages = [], count = 0 } = questions.find((question) => question.answer === answer) ?? {};
    const seen = { run: run.id, step, messages: messages.slice(0, count), tools: shown.get(step) ?? [] };
    places.push({ stop: { where: "model", ...seen } }, { stop: { where: "answer", ...seen, answer } });
    for (const { name, id, ...asked } of callsOf(answer)) {
      const { tool, input: given } = unwrap(asked);
      const input = changed.get(name) ?? given;
      const call: AgentCall = { run: run.id, step, id, tool: workspace.getTool(tool)?.address ?? tool, input };
      const outcome = outcomes.get(name);
      places.push({ stop: { where: "call", ...seen, call }, name });
      if (outcome !== undefined) places.push({ stop: { where: "outcome", ...seen, call, outcome }, name });
    }
  }
  return places;
}

/** A call through call_tool is a call of the tool. */
function unwrap(asked: Pick<AgentCall, "tool" | "input">): Pick<AgentCall, "tool" | "input"> {
  const { name, input = {} } = (asked.input ?? {}) as { readonly name?: unknown; readonly input?: AgentCall["input"] };
  return asked.tool === "call_tool" && typeof name === "string" ? { tool: name, input } : asked;
}

/** Makes a run of what was changed, and goes on with it. */
async function goAnotherWay(
  invocation: Invocation,
  known: KnownRun,
  place: Place,
  action: DebugAction,
): Promise<Answer> {
  const { open, run, toOptions, finish } = known;
  const { step } = place.stop;
  const isAnswer = place.name === undefined;
  const changes: ForkChanges = isAnswer ? {} : await toChanges(known, place.name, place, action);
  const going = open.agent.fork(run.id, isAnswer ? step - 1 : step, changes, await toOptions());
  invocation.terminal.note(`${going.id} goes on from here; ${run.id} stays as it is\n`);
  return known.toAnswer(going, await finish(going));
}

async function toChanges(known: KnownRun, name: string, place: Place, action: DebugAction): Promise<ForkChanges> {
  // What it was made with in the run that is recorded is what it is made with again, unless the person gives another input.
  const before = "outcome" in action ? undefined : known.run.folded.changed.get(name);
  const input = "input" in action && action.input !== undefined ? action.input : before;
  if (input === before && before !== undefined && known.run.folded.redacted.has(name)) {
    throw usageError(
      `Cannot make the call ${name} again: what it was made with looked like a secret and is not kept; say it with args {…} or retry {…}`,
    );
  }
  const outcomes = { [name]: await toOutcome(known, place, action) };
  return { outcomes, ...(input !== undefined && { inputs: { [name]: input } }) };
}

/** The outcome of a call in the changed run: what the user enters, or the outcome of calling it now. */
async function toOutcome({ open, run, approve }: KnownRun, place: Place, action: DebugAction): Promise<ToolOutcome> {
  if ("outcome" in action) return action.outcome;
  const { call } = place.stop;
  const input = "input" in action && action.input !== undefined ? action.input : call?.input;
  return tryCall(open.agent, { run: run.id, call: place.name ?? "", ...(input !== undefined && { input }), approve });
}
