import { toToolUse } from "../../core/define-skill.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import { describeProblem, type Problem } from "../../core/errors.ts";
import { isName, nameRule } from "../../core/names.ts";
import type { ToolReuse, ToolUse } from "../../core/skill.ts";
import type { SkillManifest } from "../manifests/skill-manifest.ts";
import type { SkillSources } from "./skill-sources.ts";

/** Tools of others that a skill names. */
export interface SkillUses {
  readonly uses: readonly ToolUse[];
  readonly reuses: readonly ToolReuse[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads which tools of others a skill uses, and which it takes over under names that none of its own tools (`taken`) has. */
export function toUses({ facts: { document }, manifest, defined }: SkillSources, taken: Iterable<string>): SkillUses {
  const problems: Problem[] = [];
  const declared = (document?.tools ?? []).filter((tool) => tool.from === "metadata");
  const uses = [
    ...declared.map((tool) => toToolUse(tool.reference, "metadata.kitbag-tools", problems)),
    ...manifest.uses.map((text, index) => toToolUse(text, `skill.uses[${index}]`, problems)),
  ];
  const names = new Set(taken);
  const listed = toReuses(manifest, names, problems);
  const reuses = [...listed, ...(defined?.reuses ?? []).filter(({ name }) => !names.has(name))];
  return {
    uses: [...uses, ...listed.map((reuse) => reuse.uses), ...(defined?.uses ?? [])].filter((use) => use.address !== ""),
    reuses,
    diagnostics: problems.map((problem) => ({
      severity: "warning",
      code: "use-invalid",
      message: describeProblem(problem),
      file: manifest.file || document?.file || "SKILL.md",
    })),
  };
}

function toReuses(manifest: SkillManifest, names: Set<string>, problems: Problem[]): ToolReuse[] {
  const reuses: ToolReuse[] = [];
  for (const { kind, name, uses: text, description, locked = {} } of manifest.tools) {
    if (kind !== "reuse") continue;
    const path = `tools.${name}`;
    const uses = toToolUse(text, `${path}.uses`, problems);
    if (!isName(name)) problems.push({ path, expected: nameRule, found: JSON.stringify(name) });
    else if (names.has(name))
      problems.push({ path, expected: "a name of its own", found: "a second tool of this name" });
    else reuses.push({ name, uses, locked, ...(description !== undefined && { description }) });
    names.add(name);
  }
  return reuses;
}
