import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import type { Skill, SkillFile } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import type { VersionSource } from "../../records/versions/versions.ts";
import { toData } from "../tool-digest.ts";

/** What a version of a tool is made of: what it says of itself, and the script or module that is its code. */
export function fromTool(tool: Tool): VersionSource {
  // A tool that knows no folder, as one of a WASM module, still has the digest of its file in the definition.
  const { folder, path } = tool.code as Partial<ScriptCode>;
  const files = folder?.files.filter((file) => file.path === path).map((file) => toFile(folder.directory, file));
  return { definition: toData({ ...tool }), files: files ?? [] };
}

/** What a version of a skill is made of: what it says of itself and its tools, and every file of its folder. */
export function fromSkill(skill: Skill): VersionSource {
  const { folder, ...data } = skill;
  return { definition: toData(data), files: folder?.files.map((file) => toFile(folder.directory, file)) ?? [] };
}

function toFile(directory: string, { path, bytes, digest }: SkillFile): VersionSource["files"][number] {
  return {
    path,
    bytes,
    digest,
    read() {
      // More than there should be would not have the digest anyway.
      const reading = readRegularFile(join(directory, path), { maxBytes: bytes });
      if (!reading.ok) throw new KitbagError("script-changed", { path });
      return reading.bytes;
    },
  };
}
