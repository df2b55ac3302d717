import { hash } from "node:crypto";
import { realpathSync } from "node:fs";
import { registerHooks, type LoadFnOutput } from "node:module";
import { basename, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { KitbagError, quote } from "../../core/errors.ts";
import { isInside } from "../../platform/paths.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { toDigest } from "../../platform/digest.ts";
import type { Digests } from "../trust/trust-format.ts";
import { isProjectFile } from "./project-files.ts";

/** A folder whose modules run only as they were hashed. */
export interface GuardedFolder {
  /** With links resolved. */
  readonly directory: string;
  /** By the path in the folder. */
  readonly files: Digests;
}

/** How a file is loaded, by how its name ends. */
const formats: Readonly<Record<string, string>> = {
  ts: "module-typescript",
  mts: "module-typescript",
  js: "module",
  mjs: "module",
  json: "json",
};

/** The guarded folders by id. Modules are never unloaded, and may import more at any time, so these stay too. */
const folders = new Map<string, GuardedFolder>();

/**
 * The address under which a module of `folder` is imported. Every byte that is loaded under it, now or later, from this folder has
 * its digest; from elsewhere come only packages and what Node brings. The same digests give the same address, so what did not
 * change runs once.
 */
export function guardModule(folder: GuardedFolder, path: string): string {
  const files = new Map([...folder.files].filter(([file]) => formatOf(file) !== undefined));
  const id = hash("sha256", JSON.stringify([folder.directory, ...files])).slice(0, 32);
  if (folders.size === 0) installHooks();
  folders.set(id, { directory: folder.directory, files });
  return toGuarded(join(folder.directory, path), id);
}

/** Tells whether an address is one that {@link guardModule} made, or that came of one. */
export function isGuarded(url: string): boolean {
  return findFolder(url) !== undefined;
}

function toGuarded(path: string, id: string): string {
  return `${pathToFileURL(path).href}?kitbag=${id}`;
}

function findFolder(url: string): { readonly id: string; readonly folder: GuardedFolder } | undefined {
  const [, id = ""] = /^file:.*\?kitbag=([0-9a-f]{32})$/u.exec(url) ?? [];
  const folder = folders.get(id);
  return folder === undefined ? undefined : { id, folder };
}

function installHooks(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const from = findFolder(context.parentURL ?? "");
      if (from === undefined || resolved.url.startsWith("node:")) return resolved;
      const path = findImported(specifier, resolved.url, from.folder);
      return path === undefined ? resolved : { ...resolved, url: toGuarded(path, from.id), shortCircuit: true };
    },
    load(url, context, nextLoad) {
      const found = findFolder(url);
      return found === undefined ? nextLoad(url, context) : loadChecked(fileURLToPath(url), found.folder);
    },
  });
}

/** The real path of a file of the folder; nothing for one of a package. Throws for everything else. */
function findImported(specifier: string, url: string, folder: GuardedFolder): string | undefined {
  if (!url.startsWith("file:")) throw refuse(folder, `it imports ${quote(specifier)}, which is no file`);
  const path = realpathSync.native(fileURLToPath(url));
  if (isInside(path, folder.directory)) {
    if (folder.files.has(toInner(path, folder))) return path;
    const inner = quote(toInner(path, folder));
    throw refuse(folder, `it imports ${inner}, which is not one of the files that are trusted with it`);
  }
  // What a package is, the package manager's lock answers for; a path that leads out of the folder is not one.
  const isPath = /^(?:\.|\/|[a-z][a-z0-9+.-]*:)/iu.test(specifier);
  if (!isPath && !isProjectFile(path)) return undefined;
  const cure = "put it into the folder, or make it a package";
  throw refuse(folder, `it imports ${quote(specifier)}, which is outside of its folder; ${cure}`);
}

function loadChecked(path: string, folder: GuardedFolder): LoadFnOutput {
  const inner = toInner(path, folder);
  const format = formatOf(inner);
  if (format === undefined) throw refuse(folder, `it imports ${quote(inner)}, which is neither a module nor JSON`);
  const read = readRegularFile(path, { maxBytes: maxModuleBytes, mustBe: path });
  if (read.ok && toDigest(read.bytes) === folder.files.get(inner)) {
    return { format, source: read.bytes, shortCircuit: true };
  }
  const changed = [`${inner} (${read.ok ? "changed" : read.reason})`];
  const { directory } = folder;
  throw new KitbagError("skill-untrusted", { skill: basename(directory), directory, changed });
}

const maxModuleBytes = 8 * 1024 * 1024;

function formatOf(path: string): string | undefined {
  const [, end = ""] = /\.([a-z]+)$/u.exec(path) ?? [];
  return Object.hasOwn(formats, end) ? formats[end] : undefined;
}

function toInner(path: string, { directory }: GuardedFolder): string {
  return relative(directory, path).split(sep).join("/");
}

function refuse({ directory }: GuardedFolder, reason: string): KitbagError {
  return new KitbagError("skill-failed", { skill: basename(directory), step: "loading its code", reason });
}
