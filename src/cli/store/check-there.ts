import { existsSync } from "node:fs";

import { KitbagError } from "../../core/errors.ts";
import type { StoreChoice } from "./choose-store.ts";

/**
 * Checks that a store in a file is there.
 *
 * @throws {KitbagError} `store-unavailable`
 */
export function checkThere(choice: StoreChoice): void {
  if (choice.kind !== "sqlite" || existsSync(choice.file)) return;
  throw new KitbagError("store-unavailable", {
    store: choice.file,
    reason: "there is no such file",
    cure: "call a tool first, or name another store with --store",
    mayBeWritten: false,
  });
}
