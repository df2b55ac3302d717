import type { Store } from "../../core/store.ts";
import type { Invocation } from "../cli-command.ts";
import { loadTrustedOptions } from "../config/open-workspace.ts";
import { defaultStore, findNamedStore } from "../store/choose-store.ts";
import { openStore } from "../store/open-store.ts";

/** Does `work` with the store that versions are kept in, and closes it; without one if the person wants none. */
export async function withVersions<Result>(
  invocation: Invocation,
  work: (kept: { readonly store?: Store }) => Promise<Result>,
): Promise<Result> {
  const named = findNamedStore(invocation);
  const configured = named === undefined ? (await loadTrustedOptions(invocation)).store : undefined;
  const choice = named ?? defaultStore(invocation);
  if (configured === undefined && (choice.kind === "none" || choice.kind === "memory")) return work({});
  const store = configured ?? (await openStore(choice as Exclude<typeof choice, { kind: "none" }>));
  try {
    return await work({ store });
  } finally {
    await store.close();
  }
}
