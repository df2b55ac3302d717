import type { RunState } from "../../run/run-state.ts";
import type { RunResult } from "../../run-result.ts";

/** Keeps what a run has added to its conversation so far. @throws what the store throws. */
export async function saveRun(run: RunState, status: RunResult["status"]): Promise<void> {
  const { conversation, session } = run.parts;
  const { id, messages, said, saidFrom } = run;
  await conversation?.save({
    run: id,
    status,
    messages: [...said, ...messages.slice(saidFrom)],
    skills: session.getActiveSkills(),
    // The first messages of a list are those from before, unless the list was made anew.
    view: saidFrom === run.earlier && said.length === 0 ? undefined : messages,
  });
}
