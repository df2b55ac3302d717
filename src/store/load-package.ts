import { KitbagError } from "../core/errors.ts";

/**
 * Loads an optional package: `load` imports it.
 *
 * @throws {KitbagError} `package-missing` if it, or something that it needs, is not installed.
 */
export async function loadPackage<Module>(name: string, user: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as { code?: unknown } | null)?.code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new KitbagError("package-missing", { peer: name, user }, { cause });
  }
}
