import { existsSync } from "node:fs";
import { dirname } from "node:path";

import { replaceFolder } from "../../platform/files.ts";
import { makeHomeFolder } from "../../platform/home.ts";
import type { KeptContent } from "./kept-content.ts";
import type { ServedSkill } from "./read-server-skills.ts";

/**
 * Writes the files of a skill of a server to a folder of their own, unless they are there already. Answers with the folder; nothing if
 * not all of them are kept here.
 */
export function writeServerSkill(skill: ServedSkill, kept: KeptContent, target: string): string | undefined {
  if (existsSync(target)) return target;
  const files = new Map<string, Uint8Array>();
  for (const { path, digest } of skill.files) {
    const bytes = kept.read(digest);
    if (bytes === undefined) return undefined;
    files.set(path, bytes);
  }
  makeHomeFolder(dirname(target));
  replaceFolder(target, files);
  return target;
}
