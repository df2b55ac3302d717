import type { Answer, Invocation } from "../../cli-command.ts";
import { findSealer } from "../../store/find-sealer.ts";
import { withKept } from "../../store/open-kept.ts";
import { needRun } from "./read-run.ts";
import { renderTranscript } from "./render-transcript.ts";

/** Shows one run as a transcript; its journal as data. */
export async function showRun(invocation: Invocation): Promise<Answer> {
  const [given = ""] = invocation.args;
  return withKept(invocation, async (kept) => {
    const run = await needRun(kept.store, given, { sealer: await findSealer(kept, invocation) });
    const { id, status, entries } = run;
    return { document: { run: id, status, journal: entries }, text: renderTranscript(run, invocation) };
  });
}
