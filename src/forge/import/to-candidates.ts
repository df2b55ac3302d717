import { toWireName } from "../../core/names.ts";
import type { Tool } from "../../core/tool.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import type { LockedSource } from "../../skills/trust/lock-format.ts";
import { skillTokens, toolTokens } from "../../workspace/skills/render-skills.ts";
import { diffSkills, type LoadedCandidate, type SkippedFolder } from "./import-candidate.ts";
import type { GatheredSkill } from "./gather-source.ts";
import { toLockedAddress } from "./import-source.ts";
import type { ImportProject } from "./open-project.ts";
import { compareTool } from "./tool-versions.ts";

/** Says of each skill everything that a person should know before it is enabled, compared with what the project has. */
export async function toCandidates(
  gathered: readonly GatheredSkill[],
  project: ImportProject,
): Promise<LoadedCandidate[]> {
  const candidates: LoadedCandidate[] = [];
  for (const one of gathered) {
    const candidate = await toCandidate(one, project);
    if (candidate !== undefined && !candidates.some((known) => isTwin(known, candidate))) candidates.push(candidate);
  }
  return candidates;
}

/** One skill may be a part of several plugins. */
function isTwin(left: LoadedCandidate, right: LoadedCandidate): boolean {
  return left.name === right.name && left.digest === right.digest;
}

/** The folders that cannot be used, each with the reason. */
export function toSkipped(gathered: readonly GatheredSkill[]): SkippedFolder[] {
  return gathered.flatMap(({ report, path, diagnostics }) => {
    if (report.skill !== undefined) return [];
    const { message = "the reason is unknown" } = diagnostics.find(({ severity }) => severity === "error") ?? {};
    return [{ name: report.name, path, reason: message }];
  });
}

async function toCandidate(gathered: GatheredSkill, project: ImportProject): Promise<LoadedCandidate | undefined> {
  const { report, diagnostics, plugin } = gathered;
  const { skill } = report;
  if (skill?.folder === undefined) return undefined;
  const { name, description, version, permissions, folder } = skill;
  const tools = skill.tools.map((tool) => toWire(name, tool));
  const isTool =
    folder.files.some(({ path }) => path === "manifest.json") &&
    !folder.files.some(({ path }) => /^skill\.md$/iu.test(path));
  const head = { name, kind: isTool ? "tool" : "skill" } as const;
  const place = project.placeOf(head);
  const source = toLockedSource(gathered, project);
  return {
    ...head,
    description,
    ...(version !== undefined && { version }),
    ...(plugin !== undefined && { plugin }),
    digest: folder.digest,
    files: folder.files.length,
    bytes: folder.files.reduce((sum, { bytes }) => sum + bytes, 0),
    permissions,
    tools: tools.map((one) => ({
      name: one.tool.name,
      description: one.tool.description,
      inputSchema: one.tool.inputSchema,
      confidence: report.tools.find((told) => told.name === one.tool.name)?.confidence ?? "declared",
      tokens: toolTokens(one),
    })),
    tokens: skillTokens(skill, tools),
    ...(folder.code !== undefined && { code: folder.code }),
    diagnostics,
    source,
    place,
    ...(await compare({ ...head, report, place, source }, project)),
    report,
  };
}

function toWire(skill: string, tool: Tool): { tool: Tool; wireName: string } {
  return { tool, wireName: toWireName(`${skill}/${tool.name}`, () => false) };
}

function toLockedSource({ fetched, path }: GatheredSkill, project: ImportProject): LockedSource {
  const { source, resolved } = fetched;
  const folder = [source.folder ?? "", path].filter((part) => part !== "").join("/");
  const ref = "ref" in source ? source.ref : undefined;
  return {
    kind: source.kind,
    address: toLockedAddress(source, project.lockBase),
    ...(ref !== undefined && { ref }),
    ...resolved,
    ...(folder !== "" && { folder }),
  };
}

interface Placed {
  readonly name: string;
  readonly kind: LoadedCandidate["kind"];
  readonly report: GatheredSkill["report"];
  readonly place: string;
  readonly source: LockedSource;
}

async function compare(
  { name, kind, report, place, source }: Placed,
  project: ImportProject,
): Promise<Pick<LoadedCandidate, "state" | "difference" | "replaces" | "changedHere">> {
  const there = await project.look(place);
  if (there === undefined) return { state: "new" };
  const { folder = readFolder(there.directory, { keepsContents: false, takesMarks: false }) } = there.skill ?? {};
  const replaces = folder.digest;
  if (replaces === report.skill?.folder?.digest) return { state: "same", replaces };
  if (kind === "tool") {
    return { replaces, ...(await compareTool({ name, place, there, fetched: report, source }, project)) };
  }
  const isImported = project.findLocked(place)?.source !== undefined;
  return { state: isImported ? "changed" : "taken", replaces, difference: await diffSkills(there, report) };
}
