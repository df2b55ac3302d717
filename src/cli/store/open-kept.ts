import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";

import type { Store } from "../../core/store.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { type Sealer, openSealer } from "../../records/audit/audit-keys.ts";
import { type Invocation, usageError } from "../cli-command.ts";
import { loadTrustedOptions } from "../config/open-workspace.ts";
import type { Configuration } from "../config/to-workspace-options.ts";
import { toAuditFiles, toPlaceId, type AuditFiles, toKeyFile } from "./audit-files.ts";
import { defaultStore, findNamedStore, nameStore, type KeptChoice, type StoreChoice } from "./choose-store.ts";
import { findLostHeads, identifyStore } from "./identify-store.ts";
import { openStoreToRead } from "./open-store.ts";

/** The store that a command shows or changes. */
export interface Kept {
  readonly store: Store;
  /** For messages. */
  readonly name: string;
  /** Where the rest of its audit is; unknown for a store that the configuration opened. */
  readonly files?: AuditFiles;
  /** The heads of audits that were kept at this place before, and whose stores are gone. */
  readonly lost: readonly string[];
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
  const isNamed = findNamedStore(invocation) !== undefined;
  const kept = await openKept(invocation, isNamed ? {} : await loadTrustedOptions(invocation));
  try {
    return await work(kept);
  } finally {
    await kept.store.close();
  }
}

/** Opens the store of the person, of the configuration, which was loaded, or of the project. The caller closes it. */
export async function openKept(invocation: Invocation, { store, audit }: Configuration): Promise<Kept> {
  const named = findNamedStore(invocation);
  if (named === undefined && store !== undefined) {
    return { store, name: "the store of the configuration", lost: [], ...(audit && { audit }) };
  }
  await store?.close();
  const choice = checkKept(named ?? defaultStore(invocation));
  const home = resolveKitbagHome(invocation.env);
  const id = await findKnownId(choice, home);
  const lost = choice.kind === "sqlite" ? findLostHeads(choice, home, id) : [];
  return { store: await openStoreToRead(choice), name: nameStore(choice), files: toAuditFiles(home, id), lost };
}

/** The id under which this home knows a store; for one that it does not know, an id that no audit has. */
export async function findKnownId(choice: KeptChoice, home: string): Promise<string> {
  const found = choice.kind === "sqlite" ? await identifyStore(choice, home) : undefined;
  return found?.status === "known" ? found.id : toPlaceId(choice);
}

type Configured = Pick<Kept, "audit">;

/** What tells genuine decisions from others: the audit of the configuration, else the key of the person. Without a key none is. */
export async function findSealer({ audit }: Configured, { env }: Pick<Invocation, "env">): Promise<Sealer> {
  if (audit !== undefined) return audit;
  const keyFile = toKeyFile(resolveKitbagHome(env));
  return openSealer(existsSync(keyFile) ? { keyFile } : { key: randomBytes(32) });
}

/**
 * What seals a decision, so that it counts when the run goes on.
 *
 * @throws {KitbagError} `audit-key-invalid` if the key is not there, or may not be used.
 */
export async function needSealer({ audit }: Configured, { env }: Pick<Invocation, "env">): Promise<Sealer> {
  return audit ?? openSealer({ keyFile: toKeyFile(resolveKitbagHome(env)) });
}
