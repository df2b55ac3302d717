import { createVersions } from "../../records/versions/versions.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { withKept } from "./open-kept.ts";

/** For so long a large output is kept, so that somebody can still read it. */
const minAgeMs = 7 * 24 * 60 * 60 * 1000;

/** Deletes blobs that no version refers to and that nobody has put for a week: large outputs of calls. */
export async function collectBlobs(invocation: Invocation): Promise<Answer> {
  const deleted = await withKept(invocation, async ({ store }) => {
    const keep = await createVersions(store).blobs();
    return store.blobs.collect(keep, { minAgeMs });
  });
  return { document: { deleted }, text: `Deleted ${deleted} blob${deleted === 1 ? "" : "s"}` };
}
