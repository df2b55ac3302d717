import { existsSync, statSync } from "node:fs";
import { relative, resolve, sep, basename, dirname, isAbsolute } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import type { LockedSource } from "../../skills/trust/lock-format.ts";
import { showAddress } from "../../sandbox/download/download.ts";
import { KitbagError } from "../../core/errors.ts";
import { isInnerPath } from "../../skills/trust/trust-format.ts";

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

/**
 * Reads the text of a source: a repository (`owner/repo`, `github:owner/repo`, an address of https, ssh, git or file), a
 * Gist (`gist:ID`, its address), an archive (a path or an address that ends with .zip, .tar, .tar.gz or .tgz), a folder, a package
 * (`npm:name@version`). Behind `#` stand the branch, the tag or the commit, and behind `:` the folder in it: `owner/repo#v1:skills/pdf`.
 *
 * @throws {KitbagError} `import-failed` for anything else.
 */
export function parseSource(text: string, directory: string): ImportSource {
  if (typeof text !== "string" || text.trim() === "" || text.length > 2048 || /[\0-\x1f\x7f]/u.test(text)) {
    throw unreadable(String(text), "expected an address, a path, owner/repo, gist:ID or npm:name");
  }
  const [, address = "", end] = /^([^#]*)(?:#(.*))?$/u.exec(text.trim()) ?? [];
  const rest = parseEnd(end, text);
  const source =
    parseNpm(address, rest, text) ??
    parseHosted(address, rest) ??
    parseUrl(address, rest, text) ??
    parsePath(address, rest, directory);
  if (source !== undefined) return source;
  throw unreadable(
    text,
    "there is no such folder or file, and it is no address; write owner/repo, an address, gist:ID or npm:name",
  );
}

interface Rest {
  readonly ref?: string;
  readonly folder?: string;
}

function parseEnd(end: string | undefined, text: string): Rest {
  if (end === undefined || end === "") return {};
  const [, ref = "", folder] = /^([^:]*)(?::(.*))?$/u.exec(end) ?? [];
  // Git would read a name that starts with a dash as an option.
  if (!/^(?:[\w][\w./+@-]*)?$/u.test(ref) || ref.includes(".."))
    throw unreadable(text, "what stands behind # is no branch, tag or commit");
  return { ...(ref !== "" && { ref }), ...toFolder(folder, text) };
}

function toFolder(folder: string | undefined, text: string): Rest {
  const plain = folder?.replace(/^\.\/+/u, "").replace(/\/+$/u, "");
  if (plain === undefined || plain === "" || plain === ".") return {};
  if (!isInnerPath(plain) || plain.includes("\\")) throw unreadable(text, "the folder leads out of it");
  return { folder: plain };
}

function parseNpm(address: string, { ref, folder }: Rest, text: string): ImportSource | undefined {
  if (!address.startsWith("npm:")) return undefined;
  const [, name, version] =
    /^npm:((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)(?:@(.+))?$/u.exec(address) ?? [];
  if (name === undefined) throw unreadable(text, "expected npm:name or npm:name@version");
  const wanted = version ?? ref;
  return {
    kind: "npm",
    address: name,
    ...(wanted !== undefined && { ref: wanted }),
    ...(folder !== undefined && { folder }),
  };
}

const slug = /^([A-Za-z0-9](?:[A-Za-z0-9-]{0,38}))\/([A-Za-z0-9._-]{1,100}?)(?:\.git)?(?::(.+))?$/u;

/** `github:owner/repo` and `gist:ID`. */
function parseHosted(address: string, rest: Rest): ImportSource | undefined {
  const [, gist] = /^gist:(?:[A-Za-z0-9-]+\/)?([0-9a-f]{6,64})$/u.exec(address) ?? [];
  if (gist !== undefined) return { kind: "git", address: `https://gist.github.com/${gist}.git`, ...rest };
  return address.startsWith("github:") ? parseSlug(address.slice("github:".length), rest) : undefined;
}

function parseSlug(text: string, rest: Rest): ImportSource | undefined {
  const [, owner, repository = "", folder] = slug.exec(text) ?? [];
  if (owner === undefined || /^\.{1,2}$/u.test(repository)) return undefined;
  return { kind: "git", address: `https://github.com/${owner}/${repository}.git`, ...rest, ...toFolder(folder, text) };
}

const archiveName = /\.(?:zip|tar|tgz|tar\.gz)$/iu;

function parseUrl(given: string, rest: Rest, text: string): ImportSource | undefined {
  const [, user, host, path] = /^([\w.-]+)@([\w.-]+):(?!\/\/)(.+)$/u.exec(given) ?? [];
  if (user !== undefined && path !== undefined) {
    return { kind: "git", address: `ssh://${user}@${host}/${path.replace(/^\/+/u, "")}`, ...rest };
  }
  const address = given.replace(/^git\+/u, "");
  if (!/^[a-z][a-z+.-]*:\/\//iu.test(address)) return undefined;
  if (!URL.canParse(address)) throw unreadable(text, "it is no address");
  const url = new URL(address);
  if (!/^(?:https?|ssh|git|file):$/u.test(url.protocol)) throw unreadable(text, `${url.protocol} is not fetched from`);
  // ssh would read such a host or path as an option.
  if (/^-|^%2d/iu.test(url.hostname) || decode(url.username).startsWith("-"))
    throw unreadable(text, "its host starts with a dash");
  if (url.protocol === "file:") return parseFile(url, rest, text);
  const isArchive = archiveName.test(url.pathname) && /^https?:$/u.test(url.protocol) && given === address;
  if (isArchive)
    return { kind: "archive", address: url.href, ...(rest.folder !== undefined && { folder: rest.folder }) };
  return { kind: "git", ...parseWebPage(url), ...rest };
}

function parseFile(url: URL, rest: Rest, text: string): ImportSource {
  if (url.host !== "") throw unreadable(text, "a file is on this machine: write file:///path");
  const path = fileURLToPath(url);
  const { folder } = rest;
  if (archiveName.test(path)) return { kind: "archive", address: path, ...(folder !== undefined && { folder }) };
  return { kind: "git", address: url.href, ...rest };
}

/** The address of a page that shows a repository, a folder in one, or a Gist, is what people copy. */
function parseWebPage(url: URL): Rest & { readonly address: string } {
  const parts = url.pathname.split("/").filter((part) => part !== "");
  if (url.hostname === "gist.github.com" && parts.length > 0) {
    const id = parts.length > 1 ? parts[1] : parts[0];
    return { address: new URL(`/${id?.replace(/\.git$/u, "")}.git`, url).href };
  }
  const [owner = "", repository = "", word, ref, ...folder] = parts;
  if (url.hostname === "github.com" && (word === "tree" || word === "blob") && ref !== undefined) {
    const inside = folder.at(-1)?.toLowerCase() === "skill.md" ? folder.slice(0, -1) : folder;
    const rest = toFolder(inside.map(decode).join("/"), url.pathname);
    return { address: new URL(`/${owner}/${repository}.git`, url).href, ref: decode(ref), ...rest };
  }
  return { address: url.href };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A path; or `owner/repo`, if there is nothing of this name here. */
function parsePath(address: string, rest: Rest, directory: string): ImportSource | undefined {
  const path = resolve(directory, address);
  const isPath = isAbsolute(address) || /^\.{1,2}(?:[\\/]|$)/u.test(address);
  const found = existsSync(path) ? statSync(path) : undefined;
  if (found === undefined) return isPath ? undefined : parseSlug(address, rest);
  const inside = rest.folder === undefined ? {} : { folder: rest.folder };
  if (found.isDirectory()) {
    if (!isPath && parseSlug(address, rest) !== undefined) {
      throw unreadable(address, `is it the folder or the repository? Write ./${address} or github:${address}`);
    }
    return rest.ref === undefined
      ? { kind: "folder", address: path, ...inside }
      : { kind: "git", address: pathToFileURL(path).href, ...rest };
  }
  if (archiveName.test(path)) return { kind: "archive", address: path, ...inside };
  return findMarketplaceOf(path);
}

/** A person may name the file of a marketplace or a plugin instead of the folder that it describes. */
function findMarketplaceOf(path: string): ImportSource | undefined {
  const above = dirname(path);
  if (/^(?:marketplace|plugin)\.json$/u.test(basename(path)) && /^\.(?:claude|codex)-plugin$/u.test(basename(above))) {
    return { kind: "folder", address: dirname(above) };
  }
  const isCodex = path.replaceAll("\\", "/").endsWith("/.agents/plugins/marketplace.json");
  if (isCodex) return { kind: "folder", address: dirname(dirname(above)) };
  return /^skill\.md$/iu.test(basename(path)) ? { kind: "folder", address: above } : undefined;
}

function unreadable(source: string, reason: string): KitbagError {
  return new KitbagError("import-failed", { source: toPlainAddress(source), reason });
}
