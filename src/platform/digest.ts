import { hash } from "node:crypto";

import type { SkillFile } from "../core/skill.ts";

const form = /^sha256:[0-9a-f]{64}$/u;

/** The digest of bytes: `sha256:` and 64 hexadecimal digits. */
export function toDigest(bytes: Uint8Array): string {
  return `sha256:${hash("sha256", bytes)}`;
}

/** Tells whether `value` has the form of a digest. */
export function isDigest(value: unknown): value is string {
  return typeof value === "string" && form.test(value);
}

/** One digest for all files, in the order they have. Lengths stand before texts, so that no two lists are written alike. */
export function toFolderDigest(files: Iterable<Pick<SkillFile, "path" | "digest">>): string {
  let text = "";
  for (const { path, digest } of files) text += `${Buffer.byteLength(path)}:${path}${digest}\n`;
  return `sha256:${hash("sha256", text)}`;
}
