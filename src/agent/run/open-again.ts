import type { ToolOutcome } from "../../core/outcome.ts";
import type { PlannedCall } from "./plan-calls.ts";
import type { RunState } from "./run-state.ts";

/** Opens or closes a skill that a call of the journal has opened or closed: in this process it has not happened yet. */
export async function openAgain(
  { parts: { session, exposure } }: RunState,
  { dispatch, input }: PlannedCall,
  outcome: ToolOutcome,
): Promise<void> {
  if (dispatch === undefined || outcome.status !== "ok") return;
  const { name } = input as { readonly name?: unknown };
  if (typeof name !== "string") return;
  // One that is gone, or is not trusted any more, stays closed: its tools are refused, and say why.
  if (dispatch.name === "deactivate_skill") await session.deactivateSkill(name);
  if (dispatch.name !== "activate_skill") return;
  const opened = await session.activateSkill(name);
  if (opened.status === "ok") exposure.noteOpened?.(opened.opened);
}
