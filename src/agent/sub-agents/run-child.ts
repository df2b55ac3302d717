import { setTimeout as wait } from "node:timers/promises";

import { isSkillAgent } from "../../core/agent-code.ts";
import { isKitbagError, KitbagError, quote } from "../../core/errors.ts";
import { cutText } from "../../core/cut-text.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";
import { providers } from "../../models/providers.ts";
import { parseModelName } from "../../models/resolve/parse-model-name.ts";
import type { RunEntry, RunOutcome } from "../../records/runs/run-records.ts";
import type { AgentRequest, Approve } from "../../workspace/call/call-options.ts";
import type { RunOptions } from "../agent-options.ts";
import type { AgentEvent } from "../events.ts";
import { toOutcome } from "../log/run-log.ts";
import { prepareResume } from "../run/prepare-resume.ts";
import { prepareRun } from "../run/prepare-run.ts";
import { canGoOn } from "../run/run-end.ts";
import { checkPrice } from "../run/to-parts.ts";
import { startRun } from "../run/start-run.ts";
import type { RunStart, RunState } from "../run/run-state.ts";
import type { RunResult, RunUsage } from "../run-result.ts";
import { type AgentTarget, isHandoff } from "./agent-target.ts";
import type { ChildCall, ChildEnd } from "./child-runs.ts";
import { openChild, openNext } from "./open-child.ts";
import { endRun } from "./run-tree.ts";

/**
 * Makes the run of a sub-agent, or goes on with it, and waits for it.
 *
 * @throws {KitbagError} why the call has no output, for the model that made it.
 */
export async function runChild(child: ChildCall): Promise<ChildEnd> {
  const { request, parent, id } = child;
  checkDepth(child);
  const { agent } = parent.parts;
  const target = openChild(agent, request.tool);
  const entries =
    parent.isResumed && request.isDirect && agent.runs ? await agent.runs.read(id, { limit: 1_000_000 }) : [];
  const ended = endOf(entries);
  if (ended !== undefined) return recall(child, ended);
  const task = target.toTask(request.input);
  const prepare = async (start: RunStart): Promise<RunState> => {
    const below = { ...start, ...toPlace(child) };
    return entries.length === 0 ? prepareRun(target.agent, task, below) : resumeSoon(target, below);
  };
  const options = toOptions(child, target, entries.length > 0);
  return toEnd(child, await startRun(id, options, target.agent.telemetry, prepare).result);
}

/** Runs an agent whose call no agent's run makes. */
export async function runAlone(request: AgentRequest): Promise<JsonValue> {
  const { tool, input, context, chain, approve } = request;
  const { agent, options, toTask } = openAlone(request);
  const { signal, user, trace, call } = context;
  const runOptions: RunOptions = {
    ...options,
    ...traceOf(trace),
    signal,
    ...(user !== undefined && { user }),
    // Nothing here can wait for an approval until tomorrow.
    approve: approve ?? denyUnapproved,
  };
  const inside = { call, callers: chain };
  const run = startRun(crypto.randomUUID(), runOptions, agent.telemetry, (start) =>
    prepareRun(agent, toTask(input), { ...start, inside }),
  );
  return toOutput(toOutcome(await run.result), tool.name);
}

function openAlone({ tool }: AgentRequest): AgentTarget {
  const { code } = tool;
  if (code.kind === "agent" && "open" in code)
    return (code as { readonly open: () => AgentTarget } & typeof code).open();
  throw new KitbagError("runtime-missing", { tool: tool.name, kind: "agent", known: [] });
}

/**
 * Checks whether the conversation can be given to the agent of a handoff, which the run does when the call is over.
 *
 * @throws {KitbagError} why it cannot, for the model that made the call.
 */
export async function checkHandoff(parent: RunState, { tool, isDirect }: AgentRequest): Promise<JsonValue> {
  if (!isHandoff(tool.code)) throw new KitbagError("tool-failed", { tool: tool.name, reason: "it is no handoff" });
  const reason = isDirect
    ? undefined
    : "only an agent itself can hand its conversation over, and not a tool that it calls";
  if (reason !== undefined) throw new KitbagError("tool-failed", { tool: tool.name, reason });
  if (parent.handedTo !== undefined) {
    throw new KitbagError("tool-failed", {
      tool: tool.name,
      reason: `${parent.handedTo.address} has the conversation already`,
    });
  }
  const { agent, findModel } = parent.parts;
  checkPrice(await findModel(openNext(agent, tool)), parent.parts);
  return { handedTo: tool.name };
}

/** @throws {KitbagError} `call-depth` if runs are as deep as they may be. */
function checkDepth({ parent, request, address }: ChildCall): void {
  const { limits, path } = parent.parts;
  if (limits.maxDepth >= 1) return;
  throw new KitbagError("call-depth", { tool: address, chain: request.chain, limit: path.length });
}

/** The place of a child in its tree. */
function toPlace({ request, parent, call, address, counter }: ChildCall): Pick<RunStart, "inside" | "parent"> {
  return {
    inside: { call: request.context.call, callers: request.chain },
    parent: { run: parent, call, address, counter },
  };
}

function toOptions(
  { request, parent, id }: ChildCall,
  { agent, options }: AgentTarget,
  isResumed: boolean,
): RunOptions {
  const { parts } = parent;
  const { skills: _skills, ...kept } = options;
  const approve = parts.approve ?? (request.isDirect ? undefined : (request.approve ?? denyUnapproved));
  const { givenHooks } = parts;
  return {
    ...(isResumed ? kept : options),
    ...modelOf(request.tool, parts),
    ...traceOf(request.context.trace),
    signal: request.context.signal,
    ...(parts.user !== undefined && { user: parts.user }),
    ...(approve !== undefined && { approve }),
    // Somebody who steps through a run steps through what it delegates.
    ...(givenHooks !== undefined && agent.options.hooks === undefined && { hooks: givenHooks }),
    ...(parts.feed.isHeard() && { onEvent: (event) => parts.feed.tell(toChildEvent(id, event)) }),
  };
}

/**
 * The model of an agent that comes with a skill: that of the run which calls it. The model that its file names is taken if the same
 * provider has it: a skill does not decide who reads the conversation.
 */
function modelOf({ code }: Tool, { askedModel }: RunState["parts"]): Pick<RunOptions, "model"> {
  if (!isSkillAgent(code)) return {};
  const { model: wished = "" } = code;
  return { model: typeof askedModel === "string" && isOfSameProvider(wished, askedModel) ? wished : askedModel };
}

function isOfSameProvider(wished: string, asked: string): boolean {
  try {
    const [one, other] = [parseModelName(wished), parseModelName(asked)];
    const isFile = providers.get(one.provider)?.isFile === true;
    return !isFile && one.provider === other.provider && one.url === other.url;
  } catch {
    // "inherit", "sonnet": no name of a model here.
    return false;
  }
}

function traceOf({ traceparent, tracestate }: AgentRequest["context"]["trace"]): RunOptions {
  return { ...(traceparent !== undefined && { traceparent }), ...(tracestate !== undefined && { tracestate }) };
}

/** Denies what needs an approval, where nobody can be asked. */
const denyUnapproved: Approve = ({ tool: { needsApproval } }) =>
  needsApproval
    ? { decision: "deny", reason: "the call needs an approval, and no approve function is set" }
    : { decision: "approve" };

function toChildEvent(run: string, event: AgentEvent): AgentEvent {
  return event.type === "child-event" ? event : { type: "child-event", run, event };
}

const pauseMs = 50;

/** Goes on with the run of a child. The process that had it is dead, or has lost the run above: its lease ends soon. */
async function resumeSoon({ agent }: AgentTarget, start: RunStart): Promise<RunState> {
  for (;;) {
    try {
      return await prepareResume(agent, start);
    } catch (cause) {
      if (!isKitbagError(cause, "run-leased")) throw cause;
      await wait(pauseMs, undefined, { signal: start.signal });
    }
  }
}

/** How a run has ended, if it has. */
function endOf(entries: readonly RunEntry[]): RunOutcome | undefined {
  const last = entries.at(-1)?.value;
  return last?.type === "run-end" ? (last["outcome"] as unknown as RunOutcome) : undefined;
}

/** Takes the end of a child from its journal: it had ended, and the run above had not written that down. */
function recall({ counter, request }: ChildCall, outcome: RunOutcome): ChildEnd {
  const facts = (outcome.status === "ok" ? outcome.output : outcome.error) as JsonObject;
  const { usage, cost } = facts as { readonly usage?: RunUsage; readonly cost?: number };
  counter.add({ ...(usage !== undefined && { usage }), cost }, "past");
  return { kind: "done", output: toOutput(outcome, request.tool.name) };
}

function toEnd({ request, parent }: ChildCall, result: RunResult): ChildEnd {
  if (result.status === "paused") return { kind: "paused", approvals: result.approvals };
  const { run } = result;
  // A run that was only cancelled, or whose store was away, goes on where it was when the run above does.
  if (canGoOn(result) && (parent.parts.log.isKept || parent.parts.signal.aborted)) {
    const { error, reason = "cancelled" } = result;
    const cause =
      error === undefined
        ? new KitbagError("run-stopped", { run, reason, text: "" })
        : new KitbagError(error.code, error.details);
    return { kind: "interrupted", cause };
  }
  return { kind: "done", output: toOutput(toOutcome(result), request.tool.name) };
}

/** Ends the run of a child that nothing goes on with: only the call that it was has been cancelled. */
export async function endChild({ id, parts: { agent } }: RunState, child: string): Promise<void> {
  if (agent.runs !== undefined) await endRun(agent.runs, child, `its call in the run ${id} was cancelled`);
}

/** How much of what a child said last is told if it has no answer, in characters. */
const longestWords = 1000;

/** What a journal says besides of a run that failed. */
interface ChildFailure {
  readonly text?: string;
  readonly reason?: string;
}

/** @throws {KitbagError} `tool-failed` if there is no answer. */
function toOutput(outcome: RunOutcome, tool: string): JsonValue {
  if (outcome.status === "ok") return (outcome.output as { readonly output: JsonValue }).output;
  const { code, message, text = "", reason = "" } = outcome.error as typeof outcome.error & ChildFailure;
  const why = code === "run-stopped" && reason !== "" ? `its run was stopped (${reason})` : message;
  const said = text === "" ? "" : `; the agent said last: ${quote(cutText(text, longestWords))}`;
  throw new KitbagError("tool-failed", { tool, reason: `${why}${said}` });
}
