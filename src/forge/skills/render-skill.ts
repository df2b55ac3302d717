import { stringify } from "smol-toml";
import { stringify as toYaml } from "yaml";

import { joinPermissions } from "../../core/permissions.ts";
import type { ToolAuthor } from "../../core/tool.ts";
import { withoutUndefined } from "../../skills/scripts/without-undefined.ts";
import { moduleFile, toPlaces } from "../drafts/languages.ts";
import type { CodeDraft, SkillDraft } from "../tool-draft.ts";

/** The folder of a tool in the folder of its skill. */
export function toolFolder(name: string): string {
  return `tools/${name}`;
}

/** The text of `SKILL.md`. */
export function renderSkill({ name, description, instructions }: SkillDraft): string {
  return `---\n${toYaml({ name, description }, { lineWidth: 0 })}---\n\n${instructions.trim()}\n`;
}

/** A draft of a skill, and who makes it. */
export interface AuthoredSkill extends SkillDraft {
  readonly author?: ToolAuthor;
}

/** The addresses of all tools of others that a skill and its tools use. */
export function toSkillUses({ uses = [], tools = [] }: SkillDraft): readonly string[] {
  return [...new Set([...uses, ...tools.flatMap((tool) => tool.uses ?? [])])];
}

/** The text of `kitbag.toml`; none if there is nothing to say. */
export function renderSkillManifest(draft: AuthoredSkill): string | undefined {
  const { version, author, tools = [] } = draft;
  const uses = toSkillUses(draft);
  // The tools of the skill are held to what its author could call, and can call now.
  const authorScopes = toScopes(author);
  const skill = withoutUndefined<object>({
    version,
    uses: uses.length === 0 ? undefined : uses,
    author: author?.user,
    authorScopes,
    owner: author?.owner,
    shared: author?.owner === undefined ? undefined : draft.shared,
  });
  const permissions = joinPermissions(tools.map((tool) => tool.permissions ?? {}));
  const dependencies = joinDependencies(tools);
  const parts = { skill, permissions, dependencies, tools: tools.map(toTool), tests: tools.flatMap(toTests) };
  const said = Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0);
  return said.length === 0 ? undefined : `${stringify(Object.fromEntries(said))}\n`;
}

/** The scopes of an author, as names; none are needed for an author without a name who may call everything. */
function toScopes({ user, scopes }: ToolAuthor = { scopes: "all" }): readonly string[] | undefined {
  if (scopes !== "all") return scopes;
  return user === undefined ? undefined : ["tools"];
}

function toTool(draft: CodeDraft): object {
  const { name, description, input, output, annotations, limits = {}, needsApproval } = draft;
  const { type, entryFile, source } = toPlaces(draft);
  const folder = toolFolder(name);
  return withoutUndefined<object>({
    name,
    kind: type,
    description,
    file: type === "wasm" ? `${folder}/${moduleFile}` : `${folder}/${entryFile}`,
    source: source && `${folder}/${source.file}`,
    language: source?.language,
    input: input ?? { type: "object", properties: {} },
    output,
    annotations,
    limitMs: limits.limitMs,
    retries: limits.retries,
    rate: limits.rate,
    needsApproval,
  });
}

function toTests({ name, examples }: CodeDraft): readonly object[] {
  return examples.map(({ input, output }) => withoutUndefined<object>({ tool: name, input, output }));
}

function joinDependencies(tools: readonly CodeDraft[]): object {
  const join = (kind: "python" | "npm"): readonly string[] => [
    ...new Set(tools.flatMap(({ dependencies = {} }) => dependencies[kind] ?? [])),
  ];
  const [python, npm] = [join("python"), join("npm")];
  return { ...(python.length > 0 && { python }), ...(npm.length > 0 && { npm }) };
}
