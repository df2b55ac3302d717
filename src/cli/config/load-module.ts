import { registerHooks } from "node:module";
import { realpathSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

import { KitbagError, isKitbagError } from "../../core/errors.ts";
import { toDigest } from "../../skills/folder/to-digest.ts";
import type { Digests } from "../../skills/trust/trust-format.ts";
import { isProjectFile, loadBytes } from "./project-files.ts";

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
    throw new KitbagError("config-invalid", { path, reason: `loading it failed: ${describe(cause)}` }, { cause });
  }
  if (module.default !== undefined) return module.default;
  throw new KitbagError("config-invalid", { path, reason: "it has no default export; write: export default …" });
}

function guardLoading(config: string, digests: Digests): void {
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.startsWith("file:")) return nextLoad(url, context);
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

/** A project that has not installed Kitbag gets this copy of it: one file with tools is enough for `kitbag call`. */
function offerOwnPackage(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        return nextResolve(specifier, context);
      } catch (cause) {
        if (!/^kitbag(?:\/|$)/u.test(specifier)) throw cause;
        return { ...nextResolve(specifier, { ...context, parentURL: import.meta.url }), shortCircuit: true };
      }
    },
  });
}

/** What was thrown, and where in the project it came from. */
function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const frames = [...(cause.stack ?? "").matchAll(/file:\/\/[^\s)]+?:\d+(?::\d+)?/gu)].map(([frame]) => frame);
  const place = frames.find((frame) => isProjectFile(toPlace(frame)));
  const name = isKitbagError(cause) ? "" : `${cause.name}: `;
  return `${name}${cause.message}${place === undefined ? "" : ` (${toPlace(place)})`}`;
}

function toPlace(frame: string): string {
  const [, url = "", place = ""] = /^(.*?)((?::\d+){1,2})$/u.exec(frame) ?? [];
  return fileURLToPath(url) + place;
}
