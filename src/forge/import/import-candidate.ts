import { realpathSync } from "node:fs";
import { join } from "node:path";

import type { Diagnostic } from "../../core/diagnostics.ts";
import { type Permissions, permissionKinds, scopesOf } from "../../core/permissions.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { SkillGrant } from "../../core/skill-grant.ts";
import type { SkillNeed } from "../../skills/load/find-needs.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { LockedSource } from "../../skills/trust/lock-format.ts";
import type { SkillTokens } from "../../workspace/skills/render-skills.ts";
import type { JsonObject } from "../../core/json.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import { toolSignature } from "../../skills/trust/tool-signature.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createVersions, type FileDiff, type VersionSource } from "../../records/versions/versions.ts";
import { KitbagError } from "../../core/errors.ts";
import type { SkillFile } from "../../core/skill.ts";
import { isInside } from "../../platform/paths.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { toDigest } from "../../platform/digest.ts";

/** A tool of a skill that may be imported. */
export interface CandidateTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** How sure the schema is. */
  readonly confidence: string;
  /** About how much its definition costs in each request to a model. */
  readonly tokens: number;
}

/** A skill that was fetched, with everything that a person should know before it is enabled. */
export interface ImportCandidate {
  readonly name: string;
  /** A tool is a folder with a `manifest.json` that is one tool. */
  readonly kind: "skill" | "tool";
  readonly description: string;
  readonly version?: string;
  /** The plugin that it is a part of. */
  readonly plugin?: string;
  /** Of all its files together. */
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
  readonly permissions: Permissions;
  /** What was granted from outside to the state of it that is there, and stays granted. */
  readonly kept: SkillGrant;
  /** What its scripts seem to need besides; of one that is there, what that did not seem to need. */
  readonly needs: readonly SkillNeed[];
  readonly tools: readonly CandidateTool[];
  readonly tokens: SkillTokens;
  /** A file that runs in our process with all rights: such a skill is never enabled by an import. */
  readonly code?: string;
  /** What was wrong or unclear, and what a careful reader would stop at. */
  readonly diagnostics: readonly Diagnostic[];
  /** Where it comes from, and which state of that it is. */
  readonly source: LockedSource;
  /** Where it is put, relative to the project. */
  readonly place: string;
  /** What is there now. A tool is the same while its source is, also if it was changed here. */
  readonly state: "new" | "same" | "changed" | "taken";
  /** Of a tool that was added before: it was edited here since. What it is now stays as a version. */
  readonly changedHere?: boolean;
  /** What would be different; only if something is there that it would replace. */
  readonly difference?: SkillDifference;
}

/** A candidate with the folder that it was read from. */
export interface LoadedCandidate extends ImportCandidate {
  readonly report: SkillReport;
  /** The digest of what was in its place when it was compared; none if nothing was. */
  readonly replaces?: string;
}

/** A folder that cannot be used, with the reason. */
export interface SkippedFolder {
  readonly name: string;
  /** In the source. */
  readonly path: string;
  readonly reason: string;
}

/** What becomes of a skill when another state of it takes its place. */
export interface SkillDifference {
  readonly version?: { readonly from: string; readonly to: string };
  readonly files: readonly FileDiff[];
  /** As `network: example.com`. */
  readonly permissions: { readonly added: readonly string[]; readonly removed: readonly string[] };
  /** By name; `changed` are those that take or give something else, or are described in another way. */
  readonly tools: {
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
  };
  /** Of the permissions and the tools' schemas, as a unified diff; none if they are the same. */
  readonly definition?: string;
}

/** Compares two states of a skill. One that could not be read has files only. */
export async function diffSkills(before: SkillReport, after: SkillReport): Promise<SkillDifference> {
  const versions = createVersions(memoryStore());
  for (const report of [before, after]) await versions.keep("skill", toSource(report));
  const count = (await versions.list("skill")).length;
  const { definition, files } = count < 2 ? { files: [] } : await versions.diff("skill", 1, 2);
  const [from = "none", to = "none"] = [before.skill?.version, after.skill?.version];
  return {
    ...(from !== to && { version: { from, to } }),
    files,
    permissions: diffLists(listPermissions(before.skill?.permissions), listPermissions(after.skill?.permissions)),
    tools: diffTools(before, after),
    ...(definition !== undefined && { definition }),
  };
}

function toSource({ directory, skill }: SkillReport): VersionSource {
  const { files } = skill?.folder ?? readFolder(directory, { keepsContents: false, takesMarks: false });
  const tools = (skill?.tools ?? []).map(({ name, description, inputSchema, outputSchema = {} }) => [
    name,
    { description, input: inputSchema, output: outputSchema } as unknown as JsonObject,
  ]);
  const permissions = (skill?.permissions ?? {}) as unknown as JsonObject;
  return {
    definition: { permissions, tools: Object.fromEntries(tools) as JsonObject },
    files: files.map((file) => ({ ...file, read: () => readShown(directory, file).bytes })),
  };
}

function listPermissions(permissions: Permissions = {}): string[] {
  return permissionKinds.flatMap((kind) => scopesOf(permissions, kind).map((one) => `${kind}: ${one}`));
}

function diffLists(before: readonly string[], after: readonly string[]): { added: string[]; removed: string[] } {
  return {
    added: after.filter((one) => !before.includes(one)),
    removed: before.filter((one) => !after.includes(one)),
  };
}

function diffTools(before: SkillReport, after: SkillReport): SkillDifference["tools"] {
  const toMarks = ({ skill }: SkillReport): Map<string, string> =>
    new Map(skill?.tools.map((tool) => [tool.name, `${toolSignature(tool)} ${tool.description}`]));
  const [old, fresh] = [toMarks(before), toMarks(after)];
  const changed = [...fresh].filter(([name, mark]) => (old.get(name) ?? mark) !== mark);
  return { ...diffLists([...old.keys()], [...fresh.keys()]), changed: changed.map(([name]) => name) };
}

/** A file that is what it was when it was shown. */
interface ShownFile {
  readonly bytes: Uint8Array;
  /** Where it really is: a link in a folder may stand for another file of it. */
  readonly path: string;
}

/**
 * Reads a file of a folder, only if its bytes are those that were hashed.
 *
 * @throws {KitbagError} `script-changed`
 */
export function readShown(directory: string, { path, bytes, digest }: SkillFile): ShownFile {
  try {
    const real = realpathSync.native(join(directory, path));
    const reading = isInside(real, directory) ? readRegularFile(real, { maxBytes: bytes }) : undefined;
    if (reading?.ok === true && toDigest(reading.bytes) === digest) return { bytes: reading.bytes, path: real };
  } catch {
    // It is gone: that is a change, too.
  }
  throw new KitbagError("script-changed", { path });
}
