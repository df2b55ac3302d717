import { readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";

/** The package indexes that may be asked. */
export interface PackageIndex {
  /** A simple index for Python. @default "https://pypi.org/simple" */
  readonly python?: string;
  /** A registry for npm. @default "https://registry.npmjs.org" */
  readonly npm?: string;
  /** A sparse index for Cargo. @default "https://index.crates.io" */
  readonly cargo?: string;
  /** Other hosts that the indexes keep their files on. @default for the default indexes: those that they use */
  readonly hosts?: readonly string[];
}

/** Where packages come from. */
export type PackageSource =
  | { readonly kind: "index"; readonly url: string; readonly hosts: readonly string[] }
  | { readonly kind: "folder"; readonly folder: string }
  | { readonly kind: "nothing" };

/** What decides about the source. */
export interface SourceOptions {
  readonly index?: PackageIndex | undefined;
  readonly wheelhouse?: string | undefined;
  readonly offline?: boolean | undefined;
}

const indexes = {
  python: { option: "python", url: "https://pypi.org/simple", hosts: ["files.pythonhosted.org:443"] },
  node: { option: "npm", url: "https://registry.npmjs.org", hosts: [] },
  rust: { option: "cargo", url: "https://index.crates.io", hosts: ["static.crates.io:443"] },
} as const;

/**
 * Decides where the packages of a language come from: a folder if there is one, else the index, unless there is no network.
 *
 * @throws {KitbagError} `option-invalid` if the address of the index is not a URL.
 */
export function toSource(
  language: keyof typeof indexes,
  { index = {}, wheelhouse, offline }: SourceOptions,
): PackageSource {
  if (wheelhouse !== undefined) return { kind: "folder", folder: wheelhouse };
  if (offline === true) return { kind: "nothing" };
  const known = indexes[language];
  const url = index[known.option];
  const hosts = [...(url === undefined ? known.hosts : []), ...(index.hosts ?? [])];
  return { kind: "index", url: url ?? known.url, hosts: [toHost(url ?? known.url, known.option), ...hosts] };
}

/**
 * What tells one source from another, also while there is no network: the address of the index, without a password, or the folder
 * with all that is in it. What came from one source is never used for a request to another.
 */
export function identifySource(language: keyof typeof indexes, options: SourceOptions): readonly unknown[] {
  const source = toSource(language, { ...options, offline: false });
  if (source.kind === "folder") return listFolder(source.folder);
  return source.kind === "index" ? [withoutPassword(source.url)] : [];
}

function withoutPassword(address: string): string {
  const { origin, pathname, search } = new URL(address);
  return `${origin}${pathname.replace(/\/+$/u, "")}${search}`;
}

/** The folder, and its files by name, size and time. */
function listFolder(folder: string): readonly unknown[] {
  try {
    const path = realpathSync(folder);
    const files = readdirSync(path)
      .toSorted()
      .map((name) => {
        const facts = statSync(join(path, name), { throwIfNoEntry: false });
        return [name, facts?.size, facts?.mtimeMs];
      });
    return [path, ...files];
  } catch {
    // The installer says what is wrong with it.
    return [folder];
  }
}

function toHost(url: string, option: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^https?:$/u.test(parsed.protocol)) {
    return `${parsed.hostname}:${parsed.port || (parsed.protocol === "https:" ? 443 : 80)}`;
  }
  const expected = "an address that begins with https:// or http://";
  throw new KitbagError("option-invalid", { option: `index.${option}`, found: showValue(url), expected });
}
