import type { Agent } from "../agent/agent-interface.ts";
import type { Task } from "../agent/agent-options.ts";
import type { AgentRun } from "../agent/agent-run.ts";
import type { RunResult } from "../agent/run-result.ts";
import { KitbagError } from "../core/errors.ts";
import type { JsonValue } from "../core/json.ts";
import { nearestNames } from "../core/nearest.ts";
import { hasAllTools, hasScope } from "../core/scopes.ts";
import type { Store } from "../core/store.ts";
import { findOwnRun } from "../gate/own-runs.ts";
import type { RunSummary } from "../records/runs/create-runs.ts";
import { toConversationId } from "./conversation-id.ts";
import { toStream } from "../records/runs/run-records.ts";
import { followRun } from "./live-runs.ts";
import type { OperationContext } from "./operation.ts";
import type { ServerEvent } from "./server-events.ts";

/** A task for an agent. */
export interface TaskInput {
  readonly agent: string;
  readonly task: Task;
  readonly id?: string;
  readonly conversation?: string;
  readonly skills?: readonly string[];
}

/**
 * Makes sure that no run has the id that a client wants for a new one: beginning it would write into the log of that run.
 *
 * @throws {KitbagError} `request-refused`
 */
export async function needFreeId({ parts: { store } }: OperationContext, id: string | undefined): Promise<void> {
  if (id === undefined || store === undefined) return;
  if ((await store.log.position(toStream(id))) > 0) throw takenId();
}

function takenId(): KitbagError<"request-refused"> {
  const reason = "a run has this id already; leave id out, or take one that is new";
  return new KitbagError("request-refused", { status: 409, reason });
}

/** Starts a run of the caller. A client's `id` is checked with {@link needFreeId} before. */
export function startRun(
  context: OperationContext,
  { agent: name, task, id, conversation, skills }: TaskInput,
): AgentRun {
  const agent = needAgent(context, name);
  const { caller, parts } = context;
  if (id !== undefined && context.live.get(id) !== undefined) throw takenId();
  const run = agent.run(task, {
    user: caller.id,
    ...(id !== undefined && { id }),
    ...(skills !== undefined && { skills }),
    ...(conversation !== undefined && {
      conversation: toConversationId(parts.workspace.ownerOf(caller.id), conversation),
    }),
    // Without a store a client cannot come back to the run.
    ...(parts.store === undefined && { signal: context.signal }),
  });
  context.live.add(run, caller.id);
  return run;
}

/** Goes on with a run. */
export function resumeRun(context: OperationContext, id: string, agent: string | undefined): AgentRun {
  const names = Object.keys(context.parts.agents ?? {});
  if (agent === undefined && names.length > 1)
    throw new KitbagError("request-refused", {
      status: 422,
      reason: `agent is missing; the agents are ${names.join(", ")}`,
    });
  const run = needAgent(context, agent ?? names[0] ?? "").resume(id);
  context.live.add(run, context.caller.id);
  return run;
}

/** @throws {KitbagError} `name-not-found`; `request-refused` if the runs of this caller could not be limited to their scopes. */
function needAgent(context: OperationContext, name: string): Agent {
  const { agents = {} } = context.parts;
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (agent === undefined) {
    const known = Object.keys(agents);
    const near = nearestNames(name, known);
    const cure = known.length === 0 ? "this service has no agents" : `the agents are ${known.join(", ")}`;
    throw new KitbagError("request-refused", {
      status: 404,
      reason: `there is no agent ${JSON.stringify(name.slice(0, 60))}${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}; ${cure}`,
    });
  }
  needRunRights(context);
  if (context.live.count(context.caller.id) < mostRuns) return agent;
  const reason = `${mostRuns} of your runs are at work; wait until one of them has ended, or stop one`;
  throw new KitbagError("request-refused", { status: 429, reason });
}

/** How many runs of one user this process works on at once. */
const mostRuns = 200;

/**
 * Makes sure that the caller may do all that their runs may: a run has the scopes of its user, who may have a wider token than this one.
 *
 * @throws {KitbagError} `request-refused`
 */
export function needRunRights({ parts: { scopesOf }, caller: { id, scopes } }: OperationContext): void {
  const ofRuns = scopesOf === undefined ? "all" : scopesOf(id);
  if (ofRuns !== undefined && hasAllTools(scopes)) return;
  if (
    ofRuns !== undefined &&
    ofRuns !== "all" &&
    [...ofRuns].every((scope) => isNoTool(scope) || hasScope(scopes, scope))
  )
    return;
  throw new KitbagError("request-refused", {
    status: 403,
    reason: "an agent cannot be limited to what this caller may do now; use a token of kitbag token",
  });
}

function isNoTool(scope: string): boolean {
  return scope.split(":", 1)[0] !== "tools";
}

/** The events of a run; of one that is not kept, only those that are told from now on. */
export async function* streamRun(context: OperationContext, run: AgentRun, after = 0): AsyncIterable<ServerEvent> {
  const { store } = context.parts;
  if (store === undefined) {
    for await (const event of run) yield { event: event.type, data: event as unknown as JsonValue };
    yield { event: "result", data: toResult(await run.result) };
    return;
  }
  // A run that fails before its first line has nothing to follow; what is under its id may be another user's.
  if (after > 0 || (await context.live.hasBegun(run))) {
    const until = run.result.then(() => store.log.position(toStream(run.id)));
    yield* followRun({ store, live: context.live, id: run.id, after, signal: context.signal, until });
  }
  if (!context.signal.aborted) yield { event: "result", data: toResult(await run.result) };
}

/** @throws {KitbagError} `run-not-found`, also for a run of another user. */
export async function needRun(context: OperationContext, id: string): Promise<RunSummary> {
  const found = await findOwnRun({ ...context.parts, ...context, store: needStore(context) }, id);
  if (found === undefined) throw new KitbagError("run-not-found", { run: id.slice(0, 200) });
  return found;
}

/** @throws {KitbagError} `request-refused` */
export function needStore({ parts: { store } }: OperationContext): Store {
  if (store !== undefined) return store;
  throw new KitbagError("request-refused", {
    status: 404,
    reason: "this service keeps nothing: it was started without a store",
  });
}

/** @throws {KitbagError} `request-refused` if this process does not work on the run. */
export function needLive({ live }: OperationContext, id: string): AgentRun {
  const run = live.get(id);
  if (run !== undefined) return run;
  throw new KitbagError("request-refused", { status: 409, reason: "this process does not work on the run now" });
}

/** What is known of a run that has just begun. */
export function begun(run: AgentRun): ReturnType<typeof toResult> {
  return { run: run.id, status: "running", text: "", steps: 0, usage: {}, skills: [] };
}

/** A result without its messages, which are in the log. */
export function toResult(result: RunResult): {
  readonly run: string;
  readonly status: RunResult["status"] | "running";
  readonly text: string;
  readonly steps: number;
  readonly usage: JsonValue;
  readonly skills: readonly string[];
} {
  const { messages: _, cost, usage, ...others } = result;
  return JSON.parse(JSON.stringify({ ...others, usage, ...(cost !== undefined && { cost }) })) as ReturnType<
    typeof toResult
  >;
}
