import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { isRecord } from "../../core/json.ts";
import { replaceFile } from "../../skills/trust/replace-file.ts";
import { withFileLock } from "../../skills/trust/with-file-lock.ts";
import { toStoreId } from "../../store/store-id.ts";
import { toHeadFolder } from "./audit-files.ts";

/** The file in which each store was found last, by the id that the store keeps in itself. */
export type KnownStores = Map<string, string>;

/** Where this is written down for a person. */
export function knownStoresPath(home: string): string {
  return join(toHeadFolder(home), "stores.json");
}

/**
 * Reads where the stores of a person are.
 *
 * @throws {KitbagError} `config-invalid` if the list is not as Kitbag writes it; what the system says if it may not be read.
 */
export function loadKnownStores(home: string): KnownStores {
  const path = knownStoresPath(home);
  if (!existsSync(path)) return new Map();
  const text = readFileSync(path, "utf8");
  try {
    return parse(text);
  } catch (cause) {
    const reason = "it is not a list of stores; delete it: it is made anew, and all stores and audits stay";
    throw new KitbagError("config-invalid", { path, reason }, { cause });
  }
}

function parse(text: string): KnownStores {
  const document: unknown = JSON.parse(text);
  const stores = isRecord(document) && document["version"] === 1 ? document["stores"] : undefined;
  if (!isRecord(stores)) throw new Error("it has no stores");
  return new Map(
    Object.entries(stores).map(([id, file]) => {
      if (toStoreId(id) === undefined || typeof file !== "string" || !isAbsolute(file)) throw new Error("it is none");
      return [id, file];
    }),
  );
}

/** Changes the list in one step that others see whole or not at all. @throws {KitbagError} `config-invalid` */
export async function updateKnownStores(home: string, change: (stores: KnownStores) => void): Promise<void> {
  const path = knownStoresPath(home);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await withFileLock(`${path}.lock`, () => {
    const stores = loadKnownStores(home);
    change(stores);
    replaceFile(path, `${JSON.stringify({ version: 1, stores: Object.fromEntries(stores) }, null, 2)}\n`, 0o600);
  });
}
