import type { Store } from "../../core/store.ts";
import { resolveKitbagHome } from "../../skills/trust/kitbag-home.ts";
import type { Sealer } from "../../store/audit/audit-keys.ts";
import type { Invocation } from "../cli-command.ts";
import { loadTrustedOptions } from "../config/open-workspace.ts";
import { usageError } from "../usage-error.ts";
import { toAuditFiles, type AuditFiles } from "./audit-files.ts";
import { defaultStore, findNamedStore, nameStore, type StoreChoice } from "./choose-store.ts";
import { openStoreToRead } from "./open-store.ts";

/** A choice of a store that outlives the command. */
export type KeptChoice = Extract<StoreChoice, { readonly kind: "sqlite" | "postgres" }>;

/** The store that a command shows or changes. */
export interface Kept {
  readonly store: Store;
  /** For messages. */
  readonly name: string;
  /** Where the rest of its audit is; unknown for a store that the configuration opened. */
  readonly files?: AuditFiles;
  /** The audit of the configuration, if that opens the store. */
  readonly audit?: Sealer;
}

/**
 * Finds out which store a command works on, as `kitbag call` does; nothing if the configuration opens its own.
 *
 * @throws {KitbagError} `usage-invalid` for a store that keeps nothing.
 */
export function checkKept(choice: StoreChoice): KeptChoice {
  if (choice.kind === "sqlite" || choice.kind === "postgres") return choice;
  throw usageError(`Cannot use the store ${choice.kind}: nothing is kept there; name another with --store`);
}

/** Does `work` with the store of the person, the configuration or the project, in this order, and closes it. */
export async function withKept<Result>(invocation: Invocation, work: (kept: Kept) => Promise<Result>): Promise<Result> {
  const kept = await openKept(invocation);
  try {
    return await work(kept);
  } finally {
    await kept.store.close();
  }
}

async function openKept(invocation: Invocation): Promise<Kept> {
  const named = findNamedStore(invocation);
  if (named === undefined) {
    const { store, audit } = await loadTrustedOptions(invocation);
    if (store !== undefined) return { store, name: "the store of the configuration", ...(audit && { audit }) };
  }
  const choice = checkKept(named ?? defaultStore(invocation));
  const files = toAuditFiles(choice, resolveKitbagHome(invocation.env));
  return { store: await openStoreToRead(choice), name: nameStore(choice), ...(files !== undefined && { files }) };
}
