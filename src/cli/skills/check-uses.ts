import type { Diagnostic } from "../../core/diagnostics.ts";
import { quote } from "../../core/errors.ts";
import { parseAddress } from "../../core/names.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Skill, ToolUse } from "../../core/skill.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { checkVersion } from "../../workspace/skills/plan-activation.ts";

/** The text of a file of a skill's folder; none if there is no such file. */
export type ReadText = (path: string) => string | undefined;

/**
 * Makes the function that says what is wrong with the tools of others that a skill uses: one that another skill of `reports` does not
 * have, a circle of skills that use each other, and what cannot be known here.
 */
export function createUsesCheck(
  reports: readonly SkillReport[],
): (skill: Skill, readText: ReadText) => readonly Diagnostic[] {
  const byName = new Map(reports.map((report) => [report.skill?.name ?? report.name, report]));
  return (skill, readText) => {
    const wrong = skill.uses.flatMap((use) => {
      const found = checkUse(skill, use, byName);
      return found === undefined ? [] : [{ ...found, ...findPlace(use.address, readText) }];
    });
    return [...wrong, ...checkCircle(skill, byName, readText)];
  };
}

type Skills = ReadonlyMap<string, SkillReport>;

function checkUse(skill: Skill, use: ToolUse, skills: Skills): Omit<Diagnostic, "file"> | undefined {
  const { address } = use;
  const { owner = skill.name, name } = parseAddress(address);
  const found = skills.get(owner);
  if (found === undefined) return unchecked(address, `the skill ${quote(owner)} is not among those that are`);
  const names = toolsOf(found);
  if (names.includes(name)) return checkFit(use, name, found.skill);
  if (!address.includes("/")) return unchecked(address, "it is not a tool of a skill that is checked");
  if (found.skill !== undefined && isOpenEnded(found.skill)) {
    return unchecked(address, `the tools of ${quote(owner)} are known only when it runs`);
  }
  const [nearest] = nearestNames(name, names, 1);
  const cure = nearest === undefined ? `Take it out of "uses", or add the tool to ${quote(owner)}` : undefined;
  return {
    severity: "error",
    code: "use-missing",
    message: `Uses ${quote(address)}, and the skill ${quote(owner)} has no such tool: it cannot be opened`,
    cure: cure ?? `Did you mean ${quote(`${owner}/${nearest}`)}?`,
  };
}

/** Whether the tool is what the skill was made for: of the version, and with the signature that the lock pins. */
function checkFit(use: ToolUse, name: string, skill: Skill | undefined): Omit<Diagnostic, "file"> | undefined {
  const tool = skill?.tools.find((one) => one.name === name);
  const misfit = tool === undefined ? undefined : checkVersion(use, tool, tool.version ?? skill?.version);
  if (misfit === undefined) return undefined;
  const message = `Uses ${misfit.expected}, and there is ${misfit.found}: it cannot be opened`;
  const cure = "read what changed, then run kitbag trust for this skill again, or give the tool a new major version";
  return { severity: "error", code: "use-changed", message, cure };
}

function unchecked(address: string, reason: string): Omit<Diagnostic, "file"> {
  return { severity: "info", code: "use-unchecked", message: `${quote(address)} was not checked: ${reason}` };
}

/** The names of a checked skill's tools, as far as they can be known without running it. */
export function toolsOf({ tools, skill }: SkillReport): readonly string[] {
  return [...tools, ...(skill?.tools ?? []), ...(skill?.reuses ?? [])].map(({ name }) => name);
}

/** Code that is not trusted, and MCP servers, say only when they run which tools they have. */
export function isOpenEnded({ folder, servers = [] }: Skill): boolean {
  return servers.length > 0 || (folder?.code !== undefined && folder.trust.status === "untrusted");
}

function checkCircle(skill: Skill, skills: Skills, readText: ReadText): readonly Diagnostic[] {
  const circle = findCircle(skill.name, skills);
  if (circle === undefined) return [];
  const [, next] = circle;
  const use = skill.uses.find(({ address }) => parseAddress(address).owner === next);
  const message = `Uses itself in a circle, so it cannot be opened: ${circle.join(" → ")}`;
  const cure = "Take one of these uses away, or put the tools into one skill";
  return [{ severity: "error", code: "use-circle", message, cure, ...findPlace(use?.address ?? next ?? "", readText) }];
}

/** The shortest way from a skill back to itself, over what skills use and require. */
function findCircle(start: string, skills: Skills): readonly string[] | undefined {
  const seen = new Set<string>();
  const ways: (readonly string[])[] = [[start]];
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    for (const next of neededBy(skills.get(way.at(-1) ?? "")?.skill)) {
      if (next === start) return [...way, start];
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

function neededBy(skill: Skill | undefined): readonly string[] {
  if (skill === undefined) return [];
  const owners = skill.uses.flatMap(({ address }) => parseAddress(address).owner ?? []);
  return [...skill.requires, ...owners].filter((name) => name !== skill.name);
}

/** Where a skill names a tool: the first line of its manifest, or of its text, that has the address. */
function findPlace(address: string, readText: ReadText): Pick<Diagnostic, "file" | "line"> {
  for (const file of ["kitbag.toml", "SKILL.md"]) {
    const lines = readText(file)?.split("\n") ?? [];
    const index = lines.findIndex((line) => line.includes(address));
    if (index >= 0) return { file, line: index + 1 };
  }
  return { file: "SKILL.md" };
}
