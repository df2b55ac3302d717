import { posix } from "node:path";

import { isKitbagError } from "../../core/errors.ts";
import { isInnerPath } from "../../skills/trust/trust-format.ts";
import type { ImportSource } from "./import-source.ts";
import { parseSource } from "./parse-source.ts";

/** Where a plugin is: a folder of the same source (`""` for all of it), or elsewhere, or why nobody can tell. */
export type PluginPlace =
  | { readonly folder: string }
  | { readonly source: ImportSource }
  | { readonly problem: string };

/**
 * Reads where a marketplace says that a plugin is: a path in the marketplace, or an object whose `source` says which kind it is. Never
 * throws: a plugin with a source that cannot be used is listed with the reason.
 */
export function parsePluginSource(source: unknown, root?: string): PluginPlace {
  if (typeof source === "string") return toFolder(source, root);
  if (typeof source !== "object" || source === null) return { problem: "it says nowhere where it is" };
  const facts = source as Readonly<Record<string, unknown>>;
  const kind = facts["source"];
  try {
    if (kind === "local") return toFolder(facts["path"]);
    if (kind === "github") return { source: toGit(`github:${toText(facts["repo"])}`, facts) };
    if (kind === "url" || kind === "git-subdir") return { source: toGit(toAddress(toText(facts["url"])), facts) };
    if (kind === "npm") return { source: toNpm(facts) };
    if (kind === "archive") return { source: toArchive(facts) };
  } catch (cause) {
    if (isKitbagError(cause)) return { problem: cause.message };
    return { problem: (cause as Error).message };
  }
  return { problem: `its source is of a kind that is not fetched: ${JSON.stringify(kind)?.slice(0, 100) ?? "none"}` };
}

function toFolder(path: unknown, root = ""): PluginPlace {
  const text = typeof path === "string" ? path : "";
  const folder = posix.join(root.replace(/^\.\//u, ""), text.replace(/\/+$/u, "") || "..");
  if (folder === ".") return { folder: "" };
  return isInnerPath(folder) && !/[\\:]/u.test(folder)
    ? { folder }
    : { problem: `its path ${JSON.stringify(text)} leads out` };
}

/** A marketplace can only send people to where everybody can go: nothing on this machine, nothing unencrypted. */
function toGit(address: string, facts: Readonly<Record<string, unknown>>): ImportSource {
  const source = parseSource(address, "/nowhere");
  if (source.kind !== "git" || !/^(?:https|ssh):/u.test(source.address))
    throw new Error("its source is no repository that is fetched over https or ssh");
  const ref = facts["sha"] ?? facts["commit"] ?? facts["ref"];
  const folder = facts["path"];
  const end = `${ref === undefined ? "" : toText(ref)}${folder === undefined ? "" : `:${toText(folder)}`}`;
  return end === "" ? source : parseSource(`${address}#${end}`, "/nowhere");
}

/** `owner/repo` is also written as the address. */
function toAddress(text: string): string {
  return /^[^:/]+\/[^:/]+$/u.test(text) ? `github:${text}` : text;
}

function toNpm(facts: Readonly<Record<string, unknown>>): ImportSource {
  const version = facts["version"];
  return parseSource(
    `npm:${toText(facts["package"])}${version === undefined ? "" : `@${toText(version)}`}`,
    "/nowhere",
  );
}

function toArchive(facts: Readonly<Record<string, unknown>>): ImportSource {
  const url = toText(facts["url"]);
  if (!url.startsWith("https://") || !URL.canParse(url)) throw new Error("its archive is not fetched over https");
  const digest = toText(facts["sha256"]);
  if (!/^[0-9a-f]{64}$/u.test(digest)) throw new Error("its archive has no digest");
  return { kind: "archive", address: url, integrity: `sha256-${Buffer.from(digest, "hex").toString("base64")}` };
}

function toText(value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw new Error("its source is not complete");
}
