import { join } from "node:path";

import { isName, toWireName } from "../../core/names.ts";
import type { Tool } from "../../core/tool.ts";
import { compareRanks, toRank, type SkillRank } from "../../skills/discovery/skill-rank.ts";
import { findNeeds, type SkillNeed } from "../../skills/load/find-needs.ts";
import { isSameSource } from "../../skills/trust/lock-skills.ts";
import { readGrant } from "../../skills/trust/set-grant.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import type { LockedSource } from "../../skills/trust/lock-format.ts";
import { skillTokens, toolTokens } from "../../workspace/skills/render-skills.ts";
import { diffSkills, type ImportCandidate, type LoadedCandidate, type SkippedFolder } from "./import-candidate.ts";
import type { GatheredSkill } from "./gather-source.ts";
import { toLockedAddress } from "./import-source.ts";
import { type ImportProject, toSourceKey } from "./open-project.ts";
import { compareTool } from "./tool-versions.ts";

/** Says of each skill everything that a person should know before it is enabled, compared with what the project has. */
export async function toCandidates(
  gathered: readonly GatheredSkill[],
  project: ImportProject,
): Promise<LoadedCandidate[]> {
  const usable = withoutTwins(gathered.filter(({ report }) => report.skill?.folder !== undefined));
  const names = chooseNames(usable, project);
  const candidates: LoadedCandidate[] = [];
  for (const one of usable) {
    const candidate = await toCandidate(one, names.get(one), project);
    if (candidate !== undefined) candidates.push(candidate);
  }
  return candidates;
}

/** One skill may be a part of several plugins, or lie in several folders: it is taken once, from where it is nearest. */
function withoutTwins(gathered: readonly GatheredSkill[]): readonly GatheredSkill[] {
  const kept = new Map<string, GatheredSkill>();
  for (const one of gathered) {
    const key = `${one.report.name} ${one.report.skill?.folder?.digest}`;
    const known = kept.get(key);
    if (known === undefined || compareRanks(rankOf(one), rankOf(known)) < 0) kept.set(key, one);
  }
  const all = new Set(kept.values());
  return gathered.filter((one) => all.has(one));
}

function rankOf({ path }: GatheredSkill): SkillRank {
  return toRank(0, path.split("/"));
}

/** The folders that cannot be used, each with the reason. */
export function toSkipped(gathered: readonly GatheredSkill[]): SkippedFolder[] {
  return gathered.flatMap(({ report, path, diagnostics }) => {
    if (report.skill !== undefined) return [];
    const { message = "the reason is unknown" } = diagnostics.find(({ severity }) => severity === "error") ?? {};
    return [{ name: report.name, path, reason: message }];
  });
}

async function toCandidate(
  gathered: GatheredSkill,
  name: string = gathered.report.name,
  project: ImportProject,
): Promise<LoadedCandidate | undefined> {
  const { report, diagnostics, plugin } = gathered;
  const { skill } = report;
  if (skill?.folder === undefined) return undefined;
  const { description, version, permissions, folder } = skill;
  const tools = skill.tools.map((tool) => toWire(name, tool));
  const head = { name, kind: isTool(report) ? "tool" : "skill" } as const;
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
    ...(await findGrants({ name, report, place, source }, project)),
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

function isTool({ skill }: GatheredSkill["report"]): boolean {
  const paths = (skill?.folder?.files ?? []).map(({ path }) => path);
  return paths.includes("manifest.json") && !paths.some((path) => /^skill\.md$/iu.test(path));
}

/**
 * Gives each skill a name of its own. Of several with one name, an original keeps it if all others are copies by their folders;
 * otherwise each gets its plugin, or a folder of its path, as prefix. What was imported before keeps the name that it got then.
 */
function chooseNames(skills: readonly GatheredSkill[], project: ImportProject): ReadonlyMap<GatheredSkill, string> {
  const chosen = new Map<GatheredSkill, string>();
  const known = project.importedNames();
  for (const one of skills) {
    const name = known.get(toSourceKey(toLockedSource(one, project)));
    if (name !== undefined) chosen.set(one, name);
  }
  const groups = Map.groupBy(
    skills.filter((one) => !chosen.has(one)),
    ({ report }) => report.name,
  );
  const taken = new Set([...chosen.values(), ...groups.keys()]);
  for (const [name, group] of groups) {
    const [first, second] = group.toSorted((one, other) => compareRanks(rankOf(one), rankOf(other)));
    const isClear = second === undefined || (first !== undefined && rankOf(first).copies < rankOf(second).copies);
    for (const one of group) {
      // A tool's folder is found by the name that its manifest says.
      if (isTool(one.report) || (isClear && one === first)) continue;
      const longer = toLongerName(one, name, taken);
      taken.add(longer);
      chosen.set(one, longer);
    }
  }
  return chosen;
}

function toLongerName({ plugin, path }: GatheredSkill, name: string, taken: ReadonlySet<string>): string {
  const steps = path
    .split("/")
    .toReversed()
    .filter((step) => step !== "skills" && step !== name)
    .map(toPrefix);
  const prefixes = [...(plugin === undefined ? [] : [toPrefix(plugin)]), ...steps, steps.toReversed().join("-")];
  const free = prefixes.find((prefix) => prefix !== "" && isFree(`${prefix}.${name}`, taken));
  if (free !== undefined) return `${free}.${name}`;
  for (let count = 2; ; count += 1) if (isFree(`copy-${count}.${name}`, taken)) return `copy-${count}.${name}`;
}

function isFree(name: string, taken: ReadonlySet<string>): boolean {
  return isName(name) && !taken.has(name);
}

function toPrefix(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]+/gu, "-").replaceAll(/^[-_]+|[-_]+$/gu, "");
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

/** What stays granted, and what a new state needs that the one in its place did not. */
async function findGrants(
  { name, report, place, source }: Omit<Placed, "kind">,
  project: ImportProject,
): Promise<Pick<ImportCandidate, "kept" | "needs">> {
  const all = findNeeds({ ...report, name });
  if (!isSameSource(source, project.findLocked(place)?.source)) return { kept: {}, needs: all };
  const kept = readGrant({ ...project, folder: { directory: join(project.root, place), files: [] } }).own;
  const there = await project.look(place);
  const known = there === undefined ? [] : findNeeds({ ...there, name });
  const isNew = ({ kind, what }: SkillNeed): boolean => !known.some((one) => one.kind === kind && one.what === what);
  return { kept, needs: findNeeds({ ...report, name }, kept).filter(isNew) };
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
