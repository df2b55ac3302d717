import { existsSync } from "node:fs";

import { toRealPath } from "../../platform/paths.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import type { CliContext } from "../cli-command.ts";
import { findStoreFile } from "./find-store-file.ts";
import { loadKnownStores } from "./known-stores.ts";

/**
 * Notices that the project of the working directory was moved here, by the store in it, before anything asks what is trusted in it. A
 * copy of a project is not followed.
 *
 * @throws {KitbagError} `store-unaccepted` if the store does not prove that it is the one that was moved; `config-invalid` if the list of stores, or of what is trusted, cannot be used.
 */
export async function followMove({ cwd, env }: Pick<CliContext, "cwd" | "env">): Promise<void> {
  const home = resolveKitbagHome(env);
  const place = findStoreFile(cwd, home);
  if (place.folder === undefined || !existsSync(place.file)) return;
  const known = new Set([...loadKnownStores(home).values()].map(({ file }) => file));
  if (known.size === 0 || known.has(toRealPath(place.file))) return;
  const { identifyStore, noteStore, toUnaccepted } = await import("./identify-store.ts");
  const choice = { kind: "sqlite", ...place } as const;
  const found = await identifyStore(choice, home);
  if (found.status === "unproven") throw await toUnaccepted(choice, { home, env }, found);
  if (found.status === "known" && found.movedFrom !== undefined) {
    await noteStore(choice, home, found.id, found.movedFrom);
  }
}
