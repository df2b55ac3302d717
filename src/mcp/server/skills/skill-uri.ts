import { hash } from "node:crypto";

/** What the URIs of all files of skills begin with: a folder of Kitbag's own, so that no name meets that of a folder of another server. */
export const skillRoot = "skill://kitbag";

/** The URI of a file or folder of a skill, in the one form in which it is published. */
export function toSkillUri(servedName: string, path = ""): string {
  const segments = path === "" ? [] : path.split("/");
  return [skillRoot, servedName, ...segments.map((segment) => encodeURIComponent(segment))].join("/");
}

/** No URI that is published is longer. */
const longestUri = 8192;

/**
 * The one form of a URI that a client gave; `undefined` if it cannot be that of a file of a skill. Whatever would lead somewhere
 * else when it is resolved (`..`, also in disguise) is refused, not tidied.
 */
export function parseSkillUri(uri: string): string | undefined {
  if (uri.length > longestUri || !uri.startsWith(`${skillRoot}/`)) return undefined;
  const segments = uri.slice(skillRoot.length + 1).split("/");
  const names = segments.map(decodeSegment);
  if (!names.every((name) => name !== undefined && isPlainName(name))) return undefined;
  return [skillRoot, ...names.map((name) => encodeURIComponent(name as string))].join("/");
}

function decodeSegment(segment: string): string | undefined {
  if (/[?#]/u.test(segment)) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function isPlainName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !/[/\0]/u.test(name) && name.isWellFormed();
}

/** What the extension allows as the name of a skill, which is less than Kitbag does. */
const grammar = /^[a-z0-9]+(?:-[a-z0-9]+)*$/u;
const longest = 64;
const hashLength = 8;

/**
 * The name under which clients see a skill: its own if the extension allows it, or else one that is made of it with a hash, the same
 * each time.
 */
export function toServedName(name: string): string {
  if (name.length <= longest && grammar.test(name)) return name;
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/gu, "-");
  const cut = plain.slice(0, longest - hashLength - 1).replaceAll(/^-+|-+$/gu, "");
  return `${cut === "" ? "skill" : cut}-${hash("sha256", name).slice(0, hashLength)}`;
}
