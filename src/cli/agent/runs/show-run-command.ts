import { KitbagError } from "../../../core/errors.ts";
import type { Store } from "../../../core/store.ts";
import type { Answer, Invocation } from "../../cli-command.ts";
import { withKept } from "../../store/open-kept.ts";
import { findRun } from "./find-run.ts";
import { readRun, type ReadRun } from "./read-run.ts";
import { renderTranscript } from "./render-transcript.ts";

/** Shows one run as a transcript; its journal as data. */
export async function showRun(invocation: Invocation): Promise<Answer> {
  const [given = ""] = invocation.args;
  return withKept(invocation, async ({ store }) => {
    const run = await needRun(store, given);
    const { id, status, entries } = run;
    return { document: { run: id, status, journal: entries }, text: renderTranscript(run, invocation.terminal) };
  });
}

/** Reads a run that somebody named. @throws {KitbagError} `run-not-found`, `usage-invalid` */
export async function needRun(store: Store, given: string): Promise<ReadRun> {
  const id = await findRun(store, given);
  const run = await readRun(store, id);
  if (run === undefined) throw new KitbagError("run-not-found", { run: given });
  return run;
}
