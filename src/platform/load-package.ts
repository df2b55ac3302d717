import { KitbagError } from "../core/errors.ts";

/**
 * Loads an optional package, for `user` (the function that needs it). Bundlers do not see the import: the package is resolved at run
 * time, and a program that does not use it is built without it.
 *
 * @throws {KitbagError} `package-missing` if it, or something that it needs, is not installed.
 */
export async function loadPackage<Module>(name: string, user: string): Promise<Module> {
  try {
    return (await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name)) as Module;
  } catch (cause) {
    if ((cause as { code?: unknown } | null)?.code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new KitbagError("package-missing", { peer: name, user }, { cause });
  }
}
