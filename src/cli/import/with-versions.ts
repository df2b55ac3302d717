import type { Store } from "../../core/store.ts";
import type { Invocation } from "../cli-command.ts";
import { loadTrustedOptions } from "../config/open-workspace.ts";
import { createRecords } from "../store/open-records.ts";

/** Does `work` with the store that versions are kept in, and closes it; without one if the person wants none. */
export async function withVersions<Result>(
  invocation: Invocation,
  work: (kept: { readonly store?: Store }) => Promise<Result>,
): Promise<Result> {
  const records = createRecords(invocation);
  try {
    const { store } = await records.complete(await loadTrustedOptions(invocation));
    return await work(store === undefined ? {} : { store });
  } finally {
    await records.close();
  }
}
