import { KitbagError } from "../core/errors.ts";
import type { Runtime } from "../core/runtime.ts";

/** Runs tools that are agents: the run of the agent that makes the call starts them, or the agent itself does. */
export function agentRuntime(): Runtime {
  return {
    kind: "agent",
    run({ name }, input, { runAgent }) {
      if (runAgent !== undefined) return runAgent(input);
      throw new KitbagError("runtime-missing", { tool: name, kind: "agent", known: [] });
    },
  };
}
