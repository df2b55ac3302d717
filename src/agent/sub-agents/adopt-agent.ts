import type { AgentParts } from "../agent-parts.ts";
import { openRunSession, toParts } from "../run/to-parts.ts";
import type { RunState } from "../run/run-state.ts";
import { isHandoff } from "./agent-target.ts";
import { openNext } from "./open-child.ts";

/**
 * Gives the conversation of a run to the agent of a handoff that was called: from the next question on, that agent's model is asked, with
 * its instructions and its tools. Does nothing if no handoff was called.
 */
export async function handOver(run: RunState): Promise<void> {
  const planned = run.handedTo;
  run.handedTo = undefined;
  if (planned?.tool === undefined || !isHandoff(planned.tool.code)) return;
  const { address, index } = planned;
  await adoptAgent(run, openNext(run.parts.agent, planned.tool), [address]);
  const { step, parts } = run;
  const call = `${step}.${index}`;
  await run.keep({ type: "agent-changed", run: run.id, step, call, tool: address, model: parts.modelName });
}

/**
 * Goes on as another agent, that of the last of these handoffs.
 *
 * @throws {KitbagError} why that agent cannot be asked; then the run is as it was.
 */
export async function adoptAgent(run: RunState, agent: AgentParts, addresses: readonly string[]): Promise<void> {
  const { parts } = run;
  const ready = await parts.findModel(agent);
  const session = openRunSession(agent, parts.start);
  try {
    const { log, output, conversation, findModel } = parts;
    const before = { parts, addresses };
    run.parts = toParts(agent, parts.start, { ready, session, log, output, conversation, findModel, before });
  } catch (cause) {
    await session.close();
    throw cause;
  }
  await parts.session.close();
}
