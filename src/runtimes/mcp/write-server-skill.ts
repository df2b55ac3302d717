import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";

import { makeHomeFolder } from "../../platform/home.ts";
import type { KeptContent } from "./kept-content.ts";
import type { ServedSkill } from "./read-server-skills.ts";

/**
 * Writes the files of a skill of a server to a folder of their own, unless they are there already. Answers with the folder; nothing if
 * not all of them are kept here.
 */
export function writeServerSkill(skill: ServedSkill, kept: KeptContent, target: string): string | undefined {
  if (existsSync(target)) return target;
  const draft = `${target}.${randomBytes(6).toString("hex")}`;
  try {
    makeHomeFolder(draft);
    for (const { path, digest } of skill.files) {
      const bytes = kept.read(digest);
      if (bytes === undefined) return undefined;
      const place = join(draft, path);
      mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
      writeFileSync(place, bytes, { flag: "wx", mode: 0o600 });
    }
    renameSync(draft, target);
    return target;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
