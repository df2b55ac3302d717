import type { Store } from "../../core/store.ts";
import type { VersionContent, VersionFile } from "./history.ts";

/** What became of one file. */
export interface FileDiff {
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  /** As a unified diff; none if one of the two is no text, or too long to compare. */
  readonly patch?: string;
}

/** What is different between two versions. */
export interface VersionDiff {
  /** Of the definitions, as a unified diff of their JSON; none if they are the same. */
  readonly definition?: string;
  readonly files: readonly FileDiff[];
}

/** A longer file is only said to be changed. */
const maxComparedBytes = 512 * 1024;

/** Compares two versions. */
export async function diffVersions(store: Store, from: VersionContent, to: VersionContent): Promise<VersionDiff> {
  const definition = await toPatch("definition.json", showJson(from), showJson(to));
  const files: FileDiff[] = [];
  for (const path of pathsOf(from, to)) {
    const [before, after] = [from, to].map((content) => content.files.find((file) => file.path === path));
    if (before?.digest !== after?.digest) files.push(await diffFile(store, before, after));
  }
  return { ...(definition !== undefined && { definition }), files };
}

function pathsOf(...contents: readonly VersionContent[]): string[] {
  return [...new Set(contents.flatMap(({ files }) => files.map(({ path }) => path)))].toSorted();
}

async function diffFile(
  store: Store,
  before: VersionFile | undefined,
  after: VersionFile | undefined,
): Promise<FileDiff> {
  const { path } = (after ?? before) as VersionFile;
  const change = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  const [old, fresh] = [await readText(store, before), await readText(store, after)];
  const patch = old === undefined || fresh === undefined ? undefined : await toPatch(path, old, fresh);
  return { path, change, ...(patch !== undefined && { patch }) };
}

/** The text of a file; none of one that is too long or not UTF-8. A file that is not there is empty. */
async function readText({ blobs }: Store, file: VersionFile | undefined): Promise<string | undefined> {
  if (file === undefined) return "";
  if (file.bytes > maxComparedBytes) return undefined;
  const bytes = await blobs.get(file.digest);
  try {
    return bytes && new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Not a text: there are no lines to compare.
    return undefined;
  }
}

function showJson({ definition }: VersionContent): string {
  return `${JSON.stringify(definition, undefined, 2)}\n`;
}

/** How long a comparison may take: two texts without a common line would take very long. */
const patienceMs = 2000;

/** A unified diff of two texts; none if they are the same, or take too long to compare. */
export async function toPatch(path: string, old: string, fresh: string): Promise<string | undefined> {
  if (old === fresh) return undefined;
  const { createTwoFilesPatch } = await import("diff");
  return createTwoFilesPatch(path, path, old, fresh, undefined, undefined, { context: 3, timeout: patienceMs });
}
