import type { AuditHead } from "./audit-entry.ts";
import type { AuditKeys } from "./audit-keys.ts";

/** The last line of an export: how many entries it has, and that somebody with the key says so. */
interface ExportSeal extends AuditHead {
  readonly type: "export-end";
  readonly seal: string;
}

/** Makes the line that ends an export. */
export function toExportSeal(keys: AuditKeys, { count, hash }: AuditHead): ExportSeal {
  return { type: "export-end", count, hash, seal: sealOf(keys, { count, hash }) };
}

/** Tells whether a line of an export is one that ends it, whoever made it. */
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
