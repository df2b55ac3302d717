import { relative, resolve, sep } from "node:path";

import type { LockedSource } from "../../skills/trust/lock-format.ts";
import { showAddress } from "../../sandbox/download/download.ts";

/** Where skills are fetched from. */
export type ImportSource =
  | {
      readonly kind: "git";
      /** With its scheme; may hold a name and a password. */
      readonly address: string;
      /** A branch, a tag or a commit. @default what the repository says */
      readonly ref?: string;
      readonly folder?: string;
    }
  | {
      readonly kind: "archive";
      /** An address, or an absolute path. */
      readonly address: string;
      /** What its bytes must be: `sha256-…` in base64. */
      readonly integrity?: string;
      readonly folder?: string;
    }
  | { readonly kind: "folder"; /** Absolute. */ readonly address: string; readonly folder?: string }
  | {
      readonly kind: "npm";
      /** The name of the package. */
      readonly address: string;
      /** A version, a range or a tag. @default "latest" */
      readonly ref?: string;
      readonly folder?: string;
    };

/** A source for people: without what may be a secret in it. */
export function showSource(source: ImportSource): string {
  const { kind, address, folder } = source;
  const ref = "ref" in source ? source.ref : undefined;
  if (kind === "npm")
    return `npm:${address}${ref === undefined ? "" : `@${ref}`}${folder === undefined ? "" : `#:${folder}`}`;
  const end = `${ref ?? ""}${folder === undefined ? "" : `:${folder}`}`;
  return `${toPlainAddress(address)}${end === "" ? "" : `#${end}`}`;
}

/** An address without name, password and query. */
export function toPlainAddress(address: string): string {
  return /^[a-z+]+:\/\//u.test(address) && URL.canParse(address) ? showPlain(new URL(address)) : address;
}

/** The name in an address of ssh says which account it is, and nothing secret. */
function showPlain(url: URL): string {
  const user = url.protocol === "ssh:" && url.username !== "" ? `${url.username}@` : "";
  return showAddress(url).replace("//", `//${user}`);
}

/** Tells whether a source is on this machine. */
export function isLocal({ kind, address }: ImportSource): boolean {
  return kind === "folder" || (kind === "archive" && !/^https?:\/\//u.test(address)) || address.startsWith("file:");
}

/** What is written down in a lock that lies in `base`: paths are relative to it. */
export function toLockedAddress({ kind, address }: ImportSource, base: string): string {
  const isPath = kind === "folder" || (kind === "archive" && !/^https?:\/\//u.test(address));
  if (!isPath) return toPlainAddress(address);
  return relative(base, address).split(sep).join("/") || ".";
}

/** The source that a lock in `base` names. */
export function fromLocked({ kind, address, ref }: LockedSource, base: string): ImportSource {
  switch (kind) {
    case "git":
    case "npm":
      return { kind, address, ...(ref !== undefined && { ref }) };
    case "archive":
      return { kind, address: /^https?:\/\//u.test(address) ? address : resolve(base, address) };
    case "folder":
      return { kind, address: resolve(base, address) };
  }
}
