import { hash } from "node:crypto";

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
