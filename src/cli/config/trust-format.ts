import { isAbsolute } from "node:path";

import type { Digests } from "./find-imports.ts";

/** What `trust.json` holds. */
interface TrustDocument {
  readonly version: 1;
  readonly trusted: readonly { readonly config: string; readonly files: readonly TrustedFile[] }[];
}

interface TrustedFile {
  readonly path: string;
  readonly digest: string;
}

/** Writes what is trusted as JSON, sorted. */
export function renderTrust(trusted: ReadonlyMap<string, Digests>): string {
  const document: TrustDocument = {
    version: 1,
    trusted: sorted(trusted).map(([config, digests]) => ({
      config,
      files: sorted(digests).map(([path, digest]) => ({ path, digest })),
    })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Reads what {@link renderTrust} wrote. Throws an `Error` for anything else, however small the difference. */
export function parseTrust(text: string): Map<string, Digests> {
  const document = JSON.parse(text) as Partial<TrustDocument> | null;
  if (document?.version !== 1 || !Array.isArray(document.trusted)) throw new Error("it is not a list of trusted files");
  const trusted = new Map<string, Digests>();
  for (const entry of document.trusted as unknown[]) {
    const { config, files } = (entry ?? {}) as { config?: unknown; files?: unknown };
    if (!isPath(config) || !Array.isArray(files)) throw new Error("it has an entry that is not a configuration");
    trusted.set(config, new Map(files.map(parseFile)));
  }
  return trusted;
}

function parseFile(file: unknown): [path: string, digest: string] {
  const { path, digest } = (file ?? {}) as { path?: unknown; digest?: unknown };
  if (isPath(path) && typeof digest === "string" && /^sha256:[0-9a-f]{64}$/u.test(digest)) return [path, digest];
  throw new Error("it has an entry that is not a file with a digest");
}

function isPath(value: unknown): value is string {
  return typeof value === "string" && isAbsolute(value);
}

function sorted(map: ReadonlyMap<string, string>): [string, string][];
function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][];
function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].toSorted(([left], [right]) => (left < right ? -1 : 1));
}
