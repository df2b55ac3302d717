import type { RuntimesOptions } from "../../runtimes/runtimes-options.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { openCliRuntimes, type CliRuntimes } from "../sandbox/open-cli-runtimes.ts";
import { uninterrupted } from "../until-interrupted.ts";
import { createRecords, type Records } from "./open-records.ts";

/** What a command that runs tools has open. */
export interface OpenRecords {
  readonly records: Records;
  readonly runtimes: CliRuntimes;
}

/** Does `work` with runtimes and records, explains what is wrong with the records, and closes both. */
export async function withRecords(
  invocation: Invocation,
  options: Pick<RuntimesOptions, "debug" | "directory" | "onLearned" | "warm">,
  work: (open: OpenRecords) => Promise<Answer>,
): Promise<Answer> {
  const records = createRecords(invocation);
  const runtimes = openCliRuntimes(invocation, options);
  try {
    return await work({ records, runtimes });
  } catch (cause) {
    const answer = records.explain(cause);
    if (answer === undefined) throw cause;
    return answer;
  } finally {
    await uninterrupted(async () => {
      await runtimes.close();
      await records.close();
    });
  }
}
