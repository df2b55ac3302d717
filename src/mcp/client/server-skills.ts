import { join } from "node:path";

import { isName } from "../../core/names.ts";
import { toSourceKey, type McpSource } from "../../core/mcp-source.ts";
import type { Skill, SkillFile } from "../../core/skill.ts";
import { type ServedSkill, writeServerSkill } from "../../runtimes/mcp/read-server-skills.ts";
import { loadSkillDocument } from "../../skills/document/load-skill-document.ts";
import { toFolderDigest } from "../../platform/digest.ts";
import { cleanText } from "./to-tools.ts";
import type { ServerToolsOptions } from "./server-tools.ts";

/** Where skills of servers come from. */
export interface ServerSkillsOptions extends Pick<ServerToolsOptions, "findPins" | "kept"> {
  /** Where their folders are. */
  readonly directory: string;
}

/** The accepted skills of a server. */
export interface ServerSkills {
  readonly skills: readonly Skill[];
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

const longestDescription = 1024;

/**
 * Finds the accepted skills of a server, as they were when they were accepted. They are text and files: they have no tools, their commands
 * are not run, and their scripts are only files.
 */
export function findServerSkills(source: McpSource, { findPins, kept, directory }: ServerSkillsOptions): ServerSkills {
  const pins = findPins(toSourceKey(source))?.skills ?? new Map<string, string>();
  const skills: Skill[] = [];
  const refused: { name: string; reason: string }[] = [];
  for (const [uri, digest] of pins) {
    const served = kept.readJson(digest) as unknown as ServedSkill | undefined;
    const folder = served && writeServerSkill(served, kept, join(directory, digest.slice("sha256:".length)));
    const skill =
      served === undefined || folder === undefined
        ? "it is not kept on this machine yet"
        : toSkill(source, served, folder);
    if (typeof skill === "string") refused.push({ name: uri, reason: skill });
    else skills.push(skill);
  }
  return { skills, refused };
}

/** Names are told apart by where they come from: `server.skill`. */
function toSkill(source: McpSource, { name, description, files }: ServedSkill, directory: string): Skill | string {
  const own = `${source.skill ?? source.name}.${name}`;
  if (!isName(own)) return `${JSON.stringify(own)} cannot be the name of a skill`;
  const { document, diagnostics } = loadSkillDocument(directory);
  if (document === undefined) return diagnostics[0]?.message ?? "its SKILL.md cannot be read";
  const listed: readonly SkillFile[] = files.toSorted((left, right) => (left.path < right.path ? -1 : 1));
  return {
    name: own,
    description: cleanText(description, longestDescription),
    capabilities: [],
    instructions: document.body,
    tools: [],
    uses: [],
    reuses: [],
    requires: [],
    exclusive: false,
    permissions: {},
    modelInvocable: document.modelInvocable,
    folder: { directory, files: listed, digest: toFolderDigest(listed), scope: "given", trust: { status: "trusted" } },
  };
}
