import { registerHooks } from "node:module";
import { realpathSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

import { KitbagError, isKitbagError } from "../../core/errors.ts";
import { toDigest } from "../../skills/folder/to-digest.ts";
import type { Digests } from "../../skills/trust/trust-format.ts";
import { describeLoadError } from "../../skills/modules/describe-load-error.ts";
import { isGuarded } from "../../skills/modules/guard-folder.ts";
import { offerOwnPackage } from "../../skills/modules/own-package.ts";
import { isProjectFile, loadBytes } from "../../skills/modules/project-files.ts";

/**
 * Loads a module of somebody's project and answers with its default export. With `digests`, every project file that is loaded,
 * now or later, must have its digest, and the bytes that were digested are the bytes that run.
 *
 * @throws {KitbagError} `config-untrusted` for a file with other bytes; `config-invalid` if the module cannot be loaded, throws
 *   or exports nothing.
 */
export async function loadModule(path: string, digests?: Digests): Promise<unknown> {
  // The hooks stay: a tool may import more when it is called.
  if (digests !== undefined) guardLoading(path, digests);
  offerOwnPackage();
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(path).href)) as typeof module;
  } catch (cause) {
    if (isKitbagError(cause, "config-untrusted") || isKitbagError(cause, "config-invalid")) throw cause;
    throw new KitbagError(
      "config-invalid",
      { path, reason: `loading it failed: ${describeLoadError(cause)}` },
      { cause },
    );
  }
  if (module.default !== undefined) return module.default;
  throw new KitbagError("config-invalid", { path, reason: "it has no default export; write: export default …" });
}

function guardLoading(config: string, digests: Digests): void {
  registerHooks({
    load(url, context, nextLoad) {
      // The code of a skill was trusted with its skill, and is checked there.
      if (!url.startsWith("file:") || isGuarded(url)) return nextLoad(url, context);
      const path = realpathSync.native(fileURLToPath(url));
      if (!isProjectFile(path)) return nextLoad(url, context);
      const bytes = checkedBytes(path, config, digests);
      const loaded = nextLoad(url, context);
      return { ...loaded, source: typeof loaded.source === "string" ? bytes.toString("utf8") : bytes };
    },
  });
}

function checkedBytes(path: string, config: string, digests: Digests): Buffer {
  const trusted = digests.get(path);
  if (trusted === undefined || path.endsWith(".node")) {
    const reason = `it loads ${path}, which "kitbag trust" cannot cover; import it by a path that is written out`;
    throw new KitbagError("config-invalid", { path: config, reason });
  }
  const bytes = loadBytes(path);
  if (toDigest(bytes) === trusted) return bytes;
  throw new KitbagError("config-untrusted", { path: config, changed: [path] });
}
