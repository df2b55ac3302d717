import { realpathSync, statSync } from "node:fs";
import { createRequire, registerHooks } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

import { KitbagError } from "../../core/errors.ts";
import { toDigest } from "../../platform/digest.ts";
import type { Digests } from "../../skills/trust/trust-format.ts";
import { isProjectFile, loadBytes } from "../../skills/modules/project-files.ts";

const maxFiles = 1000;

/**
 * Digests a file and every project file that it imports by a path that is written out, also through others. Nothing is run. A
 * path that is computed, or hidden by a comment, is not found; then the file behind it has no digest, and loading it fails.
 *
 * @throws {KitbagError} `config-invalid` if a file cannot be read or there are more than 1000.
 */
export function findImports(entry: string): Digests {
  const digests = new Map<string, string>();
  const waiting = [entry];
  withResolver((resolve) => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (digests.has(path)) continue;
      if (digests.size >= maxFiles) {
        throw new KitbagError("config-invalid", { path: entry, reason: `it imports more than ${maxFiles} files` });
      }
      const bytes = loadBytes(path);
      digests.set(path, toDigest(bytes));
      if (isSource(path)) waiting.push(...importsOf(path, bytes, resolve));
    }
  });
  return digests;
}

function isSource(path: string): boolean {
  return /\.[cm]?[jt]sx?$/u.test(path);
}

type Resolver = (specifier: string, parent: string) => string | undefined;

/** After `from`, `import`, `import(` and `require(`; the text between quotes. */
const specifierPattern =
  /(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\()\s*(?<quote>["'`])(?<specifier>[^"'`\\$\n]+)\k<quote>/gu;

function importsOf(path: string, bytes: Buffer, resolve: Resolver): string[] {
  const found: string[] = [];
  for (const { groups } of bytes.toString("utf8").matchAll(specifierPattern)) {
    const specifier = groups?.["specifier"] ?? "";
    found.push(...candidates(specifier, path, resolve).filter((candidate) => isProjectFile(candidate)));
  }
  return found;
}

/** What a specifier means to `import` and to `require`: it may be used for both. */
function candidates(specifier: string, parent: string, resolve: Resolver): string[] {
  const meanings = [resolve(specifier, parent), resolveRequired(specifier, parent)];
  return meanings.flatMap((path) => (path === undefined ? [] : toRealFile(path)));
}

function resolveRequired(specifier: string, parent: string): string | undefined {
  try {
    return createRequire(parent).resolve(specifier);
  } catch {
    return undefined;
  }
}

function toRealFile(path: string): string[] {
  try {
    const real = realpathSync.native(path);
    return statSync(real).isFile() ? [real] : [];
  } catch {
    return [];
  }
}

const question = "kitbag-resolve:";

/** Lends out Node's own resolver for `import`, which otherwise resolves only for the file that asks. */
function withResolver(use: (resolve: Resolver) => void): void {
  const hooks = registerHooks({
    resolve(specifier, context, nextResolve) {
      if (!specifier.startsWith(question)) return nextResolve(specifier, context);
      const [asked, parentURL] = JSON.parse(decodeURIComponent(specifier.slice(question.length))) as [string, string];
      return { ...nextResolve(asked, { ...context, parentURL }), shortCircuit: true };
    },
  });
  try {
    use((specifier, parent) => {
      const asked = encodeURIComponent(JSON.stringify([specifier, pathToFileURL(parent).href]));
      try {
        const url = import.meta.resolve(question + asked);
        return url.startsWith("file:") ? fileURLToPath(url) : undefined;
      } catch {
        return undefined;
      }
    });
  } finally {
    hooks.deregister();
  }
}
