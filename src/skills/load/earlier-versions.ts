import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import type { Skill } from "../../core/skill.ts";
import { skillVersionsFolder } from "../discovery/find-skills.ts";
import type { SkillReport } from "./skill-report.ts";

const labelForm = /^\d{1,9}\.\d{1,9}\.\d{1,9}$/u;

/** Of a folder with more, the rest is not read. */
const mostVersions = 50;

/** Reads one folder. */
type LoadFolder = (directory: string) => Promise<{ readonly reports: readonly SkillReport[] }>;

/** The last answers, so that a skill that did not change stays the same object. */
const known = new WeakMap<SkillReport, { readonly key: string; readonly report: SkillReport }>();

/**
 * Adds to the skills of `.kitbag/skills` their kept earlier versions, as far as those may run. `load` reads one folder as part of the
 * project.
 */
export async function addEarlier(reports: readonly SkillReport[], load: LoadFolder): Promise<readonly SkillReport[]> {
  return Promise.all(reports.map((report) => addTo(report, load)));
}

async function addTo(report: SkillReport, load: LoadFolder): Promise<SkillReport> {
  const { skill } = report;
  const directories = skill === undefined ? [] : listKept(report.directory);
  if (skill === undefined || directories.length === 0) return report;
  const loaded = await Promise.all(directories.map((directory) => load(directory)));
  const found = loaded.flatMap(({ reports: [one] }) => (one?.skill?.name === skill.name ? [one.skill] : []));
  const earlier = found
    .filter(({ folder }) => folder?.trust.status === "trusted" && folder.digest !== skill.folder?.digest)
    .map((one): Skill => ({ ...one, version: basename(one.folder?.directory ?? "") }));
  const key = JSON.stringify(earlier.map(({ version, folder }) => [version, folder?.digest]));
  const before = known.get(report);
  if (before?.key === key) return before.report;
  const result: SkillReport = earlier.length === 0 ? report : { ...report, skill: withEarlier(skill, earlier) };
  known.set(report, { key, report: result });
  return result;
}

/** A folder written by hand is not the version that it names if another one is kept under this label. */
function withEarlier(skill: Skill, earlier: readonly Skill[]): Skill {
  if (earlier.every(({ version }) => version !== skill.version)) return { ...skill, earlier };
  const { version: _, ...rest } = skill;
  return { ...rest, earlier, tools: skill.tools.map(({ version: __, ...tool }) => tool) };
}

function listKept(directory: string): readonly string[] {
  const skills = dirname(directory);
  if (basename(skills) !== "skills" || basename(dirname(skills)) !== ".kitbag") return [];
  const kept = join(dirname(skills), skillVersionsFolder, basename(directory));
  try {
    const labels = readdirSync(kept, { withFileTypes: true }).filter(
      (one) => one.isDirectory() && labelForm.test(one.name),
    );
    const newest = labels
      .map(({ name }) => name)
      .toSorted((left, right) => right.localeCompare(left, "en", { numeric: true }));
    return newest.slice(0, mostVersions).map((label) => join(kept, label));
  } catch {
    return [];
  }
}
