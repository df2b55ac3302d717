import type { Dirent } from "node:fs";
import { join } from "node:path";

import { codeFiles, isSkillCode } from "../code/code-file.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { isToolManifest } from "../manifests/read-tool-json.ts";

/** Files that make a folder a skill, whatever is in them. */
const markers = new Set(["skill.md", "manifest.toml", "kitbag.toml"]);

/** Files of names that others use too: they make a folder a skill if they are what we mean. */
const looseMarkers: ReadonlyMap<string, (bytes: Uint8Array) => boolean> = new Map([
  ["manifest.json", isToolManifest],
  ...codeFiles.map((name) => [name, isSkillCode] as const),
]);

const maxMarkerBytes = 1024 * 1024;

/** Tells whether a folder with these items is a skill. Looks into a file only if its name alone does not say it. */
export function isSkill(directory: string, items: readonly Dirent[]): boolean {
  const files = items.filter((item) => !item.isDirectory());
  return (
    files.some((item) => markers.has(item.name.toLowerCase())) ||
    files.some(({ name }) => {
      const isMeant = looseMarkers.get(name);
      if (isMeant === undefined) return false;
      const read = readRegularFile(join(directory, name), { maxBytes: maxMarkerBytes });
      return read.ok && isMeant(read.bytes);
    })
  );
}

/** Tells whether a file of this name stands for the skill that it is in. */
export function isSkillFile(name: string): boolean {
  return name.toLowerCase() === "skill.md" || codeFiles.includes(name);
}
