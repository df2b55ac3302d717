import type { JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { type AuditHead, type AuditLine, auditStream, emptyHead, toHead } from "./audit-entry.ts";
import { type AuditKeys, type AuditKeySource, loadAuditKeys } from "./audit-keys.ts";

/** What part of the audit to read. */
export interface ReadAuditOptions {
  /** Only entries after this position. @default 0 */
  readonly after?: number;
  /** @default all */
  readonly limit?: number;
}

const pageSize = 1000;

/**
 * Reads the entries of the audit in order, as they are: it checks nothing. See {@link verifyAudit}.
 *
 * @example
 * ```ts
 * import { memoryStore } from "kitbag";
 * import { readAudit } from "kitbag/store";
 *
 * for await (const entry of readAudit(memoryStore())) console.assert(entry.position > 0);
 * ```
 */
export async function* readAudit(
  store: Store,
  { after = 0, limit = Infinity }: ReadAuditOptions = {},
): AsyncGenerator<AuditLine> {
  let left = limit;
  let position = after;
  while (left > 0) {
    const page = await store.log.read(auditStream, { after: position, limit: Math.min(pageSize, left) });
    if (page.length === 0) return;
    for (const entry of page) {
      yield entry.value as unknown as AuditLine;
      position = entry.position;
    }
    left -= page.length;
    // A store in this process answers at once: others must have their turn in a long chain.
    await new Promise(setImmediate);
  }
}

/**
 * Writes the audit as lines of JSON, with the hashes: with the key, {@link verifyAuditLines} verifies them without the store.
 * Nothing in a line can begin another one. If it is given the key, one more line ends the export and says how many entries it
 * has, so that an end that is cut off is seen in the file alone.
 *
 * @throws {KitbagError} `audit-key-invalid` if there is no such key; `store-…` if the store cannot be read.
 *
 * @example
 * ```ts
 * import { memoryStore } from "kitbag";
 * import { exportAudit } from "kitbag/store";
 *
 * for await (const line of exportAudit(memoryStore())) console.assert(line.endsWith("\n"));
 * ```
 */
export async function* exportAudit(store: Store, key?: AuditKeySource): AsyncGenerator<string> {
  const keys = key === undefined ? undefined : await loadAuditKeys(key, false);
  let head = emptyHead;
  for await (const entry of readAudit(store)) {
    yield `${JSON.stringify(entry)}\n`;
    head = toHead(entry);
  }
  if (keys !== undefined) yield `${JSON.stringify(toExportSeal(keys, head))}\n`;
}

/** The values of the lines; one that is no JSON is `null`, which is no entry. */
export async function* parseAuditLines(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<JsonValue> {
  for await (const line of lines) {
    if (line.trim() !== "") yield parse(line);
  }
}

function parse(line: string): JsonValue {
  try {
    return JSON.parse(line) as JsonValue;
  } catch {
    return null;
  }
}

/** The last line of an export: how many entries it has, sealed with the key. */
interface ExportSeal extends AuditHead {
  readonly type: "export-end";
  readonly seal: string;
}

/** Makes the line that ends an export. */
function toExportSeal(keys: AuditKeys, { count, hash }: AuditHead): ExportSeal {
  return { type: "export-end", count, hash, seal: sealOf(keys, { count, hash }) };
}

/** Tells whether a line has the shape of the last line of an export. Does not check the seal. */
export function isExportSeal(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value && value.type === "export-end";
}

/** Tells whether a line was made with the key to end an export with this head. */
export function isSealOf(keys: AuditKeys, head: AuditHead, value: unknown): boolean {
  const { count, hash, seal } = value as Partial<ExportSeal>;
  return count === head.count && hash === head.hash && seal === sealOf(keys, head);
}

/** No line of an anchor can stand in for it: they begin with a number. */
function sealOf(keys: AuditKeys, { count, hash }: AuditHead): string {
  return keys.anchor(`export ${count} ${hash}`);
}
