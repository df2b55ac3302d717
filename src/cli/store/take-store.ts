import { rmSync } from "node:fs";

import type { Store } from "../../core/store.ts";
import type { AuditVerdict } from "../../records/audit/check-chain.ts";
import { keepStoreId, makeStoreId } from "../../store/store-id.ts";
import { toAuditFiles, toPlaceId, type AuditFiles } from "./audit-files.ts";
import type { KeptChoice } from "./choose-store.ts";
import { findLostHeads, identifyStore, noteStore } from "./identify-store.ts";
import { updateKnownStores } from "./known-stores.ts";
import { openStore } from "./open-store.ts";

/** A store that was taken, or why it cannot be. */
export interface TakenStore {
  readonly verdict: AuditVerdict;
  /** How many heads of earlier stores at this place were forgotten. */
  readonly forgotten: number;
}

/**
 * Makes a store the one that belongs here: `anchor` says where its audit ends. A copy of another store, and one that does
 * not prove that it is the store whose id it has, get an id of their own. Nothing
 * changes if the audit cannot go on.
 */
export async function takeStore(
  choice: KeptChoice,
  home: string,
  anchor: (store: Store, files: AuditFiles) => Promise<AuditVerdict>,
): Promise<TakenStore> {
  const found = choice.kind === "sqlite" ? await identifyStore(choice, home) : undefined;
  const store = await openStore(choice);
  try {
    if (found === undefined || choice.kind !== "sqlite") {
      return { verdict: await anchor(store, toAuditFiles(home, toPlaceId(choice))), forgotten: 0 };
    }
    const id = "id" in found ? found.id : makeStoreId();
    const verdict = await anchor(store, toAuditFiles(home, id));
    if (!verdict.ok) return { verdict, forgotten: 0 };
    await keepStoreId(store, id);
    await noteStore(choice, home, id, found.status === "known" ? found.movedFrom : undefined);
    const lost = findLostHeads(choice, home, id);
    for (const path of lost) rmSync(path);
    await updateKnownStores(home, (stores) => {
      const file = stores.get(id)?.file;
      for (const [other, place] of [...stores]) if (place.file === file && other !== id) stores.delete(other);
    });
    return { verdict, forgotten: lost.length };
  } finally {
    await store.close();
  }
}
