import type { AgentCode } from "../../core/agent-code.ts";
import type { RuntimeContext } from "../../core/runtime.ts";
import type { Call } from "./call.ts";
import type { AgentCaller } from "./call-options.ts";
import { approverOf } from "./phase.ts";

/** Finds what runs the agent that a call is of, if anything does. */
export function findAgentCaller(
  call: Call,
  context: RuntimeContext,
): ((input: unknown) => Promise<unknown>) | undefined {
  const { tool } = call.entry;
  if (tool.code.kind !== "agent") return undefined;
  const caller = nearestCaller(call) ?? ((tool.code as AgentCode).alone as AgentCaller | undefined);
  if (caller === undefined) return undefined;
  const isDirect = call.options.agents !== undefined;
  return (input) => caller.run({ tool, input, context, chain: call.chain(), isDirect, approve: approverOf(call) });
}

function nearestCaller({ options, parent }: Call): AgentCaller | undefined {
  return options.agents ?? (parent && nearestCaller(parent));
}
