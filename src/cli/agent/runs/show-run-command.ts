import type { Answer, Invocation } from "../../cli-command.ts";
import { withKept } from "../../store/open-kept.ts";
import { needRun } from "./read-run.ts";
import { renderTranscript } from "./render-transcript.ts";

/** Shows one run as a transcript; its journal as data. */
export async function showRun(invocation: Invocation): Promise<Answer> {
  const [given = ""] = invocation.args;
  return withKept(invocation, async ({ store }) => {
    const run = await needRun(store, given);
    const { id, status, entries } = run;
    return { document: { run: id, status, journal: entries }, text: renderTranscript(run, invocation) };
  });
}
