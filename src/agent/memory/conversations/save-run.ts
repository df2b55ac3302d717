import type { RunState } from "../../run/run-state.ts";
import type { RunResult } from "../../run-result.ts";

/** Keeps what a run has added to its conversation so far. @throws what the store throws. */
export async function saveRun(run: RunState, status: RunResult["status"]): Promise<void> {
  const { conversation, session } = run.parts;
  const { id, messages, said, saidFrom, isCompacted } = run;
  await conversation?.save({
    run: id,
    status,
    messages: [...said, ...messages.slice(saidFrom)],
    skills: session.getActiveSkills(),
    view: isCompacted ? messages : undefined,
  });
}
