import type { JsonObject } from "../../core/json.ts";
import { permissionKinds, scopesOf, type Permissions } from "../../core/permissions.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { toolSignature } from "../../skills/trust/tool-signature.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createVersions, type FileDiff, type VersionSource } from "../../records/versions/versions.ts";
import { readShown } from "./read-shown.ts";

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
