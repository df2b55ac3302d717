import { guardsOnlyAt } from "../../core/guards.ts";
import type { JsonValue } from "../../core/json.ts";
import type { Scopes } from "../../core/scopes.ts";
import { findScopes } from "../../workspace/call/authority.ts";
import type { Approve } from "../../workspace/call/call-options.ts";
import type { AgentOptions, RunLimits } from "../agent-options.ts";
import type { AgentParts } from "../agent-parts.ts";
import { createUsageCounter, type UsageCounter } from "../cost/usage-counter.ts";
import { createLoopDetector } from "./loop-detector.ts";
import { toGuards } from "./run-guards.ts";
import type { RunParts, RunStart, RunState } from "./run-state.ts";

/** What a run had until the conversation was handed over, and the addresses of the handoffs since. */
export interface BeforeHandoff {
  readonly parts: RunParts;
  readonly addresses: readonly string[];
}

/** The parts of a run that depend on the run which waits for it, or on the agent that had the conversation before. */
type InheritedParts = Pick<
  RunParts,
  "approve" | "callers" | "counter" | "detector" | "guards" | "limits" | "path" | "quotas" | "scopes"
>;

/**
 * Makes what a run does not decide alone: the run of a sub-agent has no more than its own agent and the run that waits for it allow, and
 * an agent that a conversation is handed to goes on with what the run has.
 */
export function inheritParts(agent: AgentParts, start: RunStart, handoff: BeforeHandoff | undefined): InheritedParts {
  const { options: given } = agent;
  const others = handoff?.parts ?? start.parent?.run.parts;
  const ownScopes = scopesOfUser(given, start.options.user);
  const shared = {
    callers: start.inside?.callers ?? [],
    quotas: [...new Set([...(others?.quotas ?? []), given.workspace.quotas])],
    guards: toAllGuards(given, others),
  };
  if (handoff === undefined) return { ...shared, ...partsOfNew(agent, start), scopes: ownScopes };
  const { limits, counter, detector, approve, path, scopes } = handoff.parts;
  const going = { limits, counter, detector, approve, path: [...path, ...handoff.addresses] };
  return { ...shared, ...going, scopes: joinScopes(scopes, ownScopes) };
}

type NewParts = Pick<InheritedParts, "approve" | "counter" | "detector" | "limits" | "path">;

function partsOfNew(agent: AgentParts, { options, parent, path = [] }: RunStart): NewParts {
  const { options: given } = agent;
  const around = parent?.run;
  return {
    path: parent === undefined ? path : [...parent.run.parts.path, parent.address],
    limits: limitBelow({ ...defaultLimits, ...given.limits, ...options.limits }, around),
    counter: createUsageCounter({ around: parent?.counter, total: totalOf(agent, around) }),
    detector: createLoopDetector(),
    approve: joinApprovals(options.approve, given.approve, around),
  };
}

const defaultLimits: RunLimits = {
  maxSteps: 50,
  maxTokens: Infinity,
  maxCost: Infinity,
  maxMs: Infinity,
  maxCalls: 1000,
  maxParallel: 8,
  maxDepth: 5,
  maxContinuations: 3,
};

/** The total of an agent, unless a run around this one counts for it already. */
function totalOf({ total }: AgentParts, around: RunState | undefined): UsageCounter | undefined {
  for (let run = around; run !== undefined; run = run.parts.start.parent?.run) {
    if (run.parts.agent.total === total) return undefined;
  }
  return total;
}

/** What is left of the limits of the run that waits for this one holds here, too. */
function limitBelow(limits: RunLimits, around: RunState | undefined): RunLimits {
  if (around === undefined) return limits;
  const { limits: outer, counter } = around.parts;
  return {
    ...limits,
    maxTokens: Math.min(limits.maxTokens, outer.maxTokens - counter.spentTokens()),
    maxCost: outer.maxCost === Infinity ? limits.maxCost : Math.min(limits.maxCost, outer.maxCost - counter.spent()),
    maxMs: Math.min(limits.maxMs, outer.maxMs - (performance.now() - around.startedAt)),
    maxDepth: Math.min(limits.maxDepth, outer.maxDepth - 1),
  };
}

/** A call of a sub-agent needs the approval of that agent's program, and that of the run which waits for it. */
function joinApprovals(
  given: Approve | undefined,
  own: Approve | undefined,
  around: RunState | undefined,
): Approve | undefined {
  if (around === undefined || given === undefined || own === undefined || given === own) return given ?? own;
  return async (request) => {
    const first = await own(request);
    if (first?.decision !== "approve") return first;
    const second = await given(first.input === undefined ? request : { ...request, input: first.input as JsonValue });
    return second?.decision === "approve" ? { ...first, ...second } : second;
  };
}

/** Guards of the run that waits for this one, and of the agent that had the conversation before, see all calls. */
function toAllGuards(given: AgentOptions, around: RunParts | undefined): RunParts["guards"] {
  const own = toGuards(given);
  if (around === undefined || around.guards.length === 0) return own;
  const others = around.guards.filter((guard) => !own.includes(guard));
  return [...own, ...guardsOnlyAt(others, ["tool-input", "tool-output"])];
}

function scopesOfUser({ scopesOf }: AgentOptions, user: string | undefined): Scopes | undefined {
  return user === undefined || scopesOf === undefined ? undefined : findScopes(user, scopesOf);
}

function joinScopes(left: Scopes | undefined, right: Scopes | undefined): Scopes | undefined {
  if (left === undefined || left === "all") return right ?? left;
  if (right === undefined || right === "all") return left;
  return left.intersection(right);
}
