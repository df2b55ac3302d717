import { existsSync, rmSync } from "node:fs";

import type { Store } from "../../core/store.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { auditStream } from "../../records/audit/audit-entry.ts";
import type { AuditVerdict } from "../../records/audit/check-chain.ts";
import { openAudit } from "../../records/audit/open-audit.ts";
import { anchorAudit, setAsideAudit } from "../../records/audit/verify-audit.ts";
import { keepStoreId, makeStoreId } from "../../store/store-id.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { showCommand } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { type AuditFiles, toAuditFiles, toPlaceId } from "./audit-files.ts";
import { checkThere, defaultStore, findNamedStore, type KeptChoice, nameStore } from "./choose-store.ts";
import { findLostHeads, identifyStore, noteStore } from "./identify-store.ts";
import { updateKnownStores } from "./known-stores.ts";
import { checkKept } from "./open-kept.ts";
import { openStore } from "./open-store.ts";
import { tellSetAside } from "./verify-kept.ts";

/**
 * Takes a store as it is: from now on it is the one that belongs here, and its audit ends where it ends now. With `--new-audit` also
 * one whose audit is broken: what follows says so.
 */
export async function acceptStore(invocation: Invocation): Promise<Answer> {
  const choice = checkKept(findNamedStore(invocation) ?? defaultStore(invocation));
  checkThere(choice);
  const anchor = invocation.options["newAudit"] === true ? setAsideAudit : anchorStore;
  const { verdict, forgotten } = await takeStore(choice, resolveKitbagHome(invocation.env), anchor);
  const name = nameStore(choice);
  if (!verdict.ok) {
    const failure = `Cannot accept ${name}: ${explainVerdict(verdict, invocation)}`;
    return { document: { store: name, ...verdict }, failure: toPrintable(failure), exitCode: 1 };
  }
  const text = [`Accepted ${name}, with an audit of ${verdict.count} entries`, ...tellSetAside(verdict)];
  return { document: { store: name, ...verdict, forgotten }, text: toPrintable(text.join("\n")) };
}

/** Says why an audit cannot go on, and what helps. */
export function explainVerdict(
  { position, problem }: Extract<AuditVerdict, { readonly ok: false }>,
  invocation: Invocation,
): string {
  const renew = showCommand("store accept --new-audit", invocation);
  if (problem === "key-wrong" && position > 1) {
    const what = `entry ${position} of its audit and all behind it were made with another key, as with another HOME or KITBAG_HOME`;
    return `${what}; go on with a new audit behind them, which says so: ${renew}`;
  }
  if (problem === "key-wrong") {
    const accept = showCommand("store accept", invocation);
    const cure = `put audit.key of the KITBAG_HOME it was made with into yours, then run ${accept}`;
    return `its audit was made with another key; ${cure}. If that key is lost, go on with a new audit behind it: ${renew}`;
  }
  return `its audit is broken at entry ${position} (${problem}); if you know why, go on with a new audit behind it, which says so: ${renew}`;
}

/** Writes down where the audit of a store ends now, if it is good in itself. */
export async function anchorStore(store: Store, files: AuditFiles): Promise<AuditVerdict> {
  if (existsSync(files.keyFile)) return anchorAudit(store, files);
  if ((await store.log.position(auditStream)) > 0) return { ok: false, count: 0, position: 1, problem: "key-wrong" };
  // There is nothing that a new key could not have made.
  await (await openAudit({ store, ...files })).close();
  return { ok: true, count: 0, hash: "" };
}

/** A store that was taken, or why it cannot be. */
interface TakenStore {
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
