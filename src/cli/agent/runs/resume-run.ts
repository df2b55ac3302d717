import { setTimeout as wait } from "node:timers/promises";

import type { AgentRun } from "../../../agent/agent-run.ts";
import type { RunResult } from "../../../agent/run-result.ts";
import type { Answer, Invocation } from "../../cli-command.ts";
import { withRun, type KnownRun } from "./go-on-with-run.ts";

/** A lease of a process that has died ends in 10 seconds; one that is still held after this belongs to one that lives. */
const patienceMs = 15_000;
const pauseMs = 500;

/** Goes on with a run. One that a dead process had is waited for. */
export async function resumeRun(invocation: Invocation): Promise<Answer> {
  return withRun(invocation, async (known) => {
    const { going, result } = await resumeWhenFree(known, invocation);
    return known.toAnswer(going, result);
  });
}

async function resumeWhenFree(
  known: KnownRun,
  { terminal }: Invocation,
): Promise<{ readonly going: AgentRun; readonly result: RunResult }> {
  const { open, run, toOptions, finish } = known;
  // It goes on as the user who began it.
  const { user: _person, ...options } = await toOptions();
  const until = performance.now() + patienceMs;
  let hasNoted = false;
  for (;;) {
    const going = open.agent.resume(run.id, options);
    const result = await finish(going);
    if (result.error?.code !== "run-leased" || performance.now() > until) return { going, result };
    if (!hasNoted)
      terminal.note("Another process has this run; if it has died, the run is free within 10 seconds: waiting\n");
    hasNoted = true;
    await wait(pauseMs);
  }
}
