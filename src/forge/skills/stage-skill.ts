import { readFileSync } from "node:fs";
import { join } from "node:path";

import { stringify } from "smol-toml";
import { stringify as toYaml } from "yaml";

import type { Tool, ToolAuthor } from "../../core/tool.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import { writeFileAtomically, writeNewFiles, type FileMap } from "../../platform/files.ts";
import { toPlaces, moduleFile } from "../drafts/languages.ts";
import type { ForgeParts } from "../forge-parts.ts";
import type { ChangeOptions, ExampleResult } from "../forge-interface.ts";
import { runExamples } from "../creation/run-examples.ts";
import type { CodeDraft, SkillDraft } from "../drafts/tool-draft.ts";
import { joinPermissions } from "../../core/permissions.ts";
import { withoutUndefined } from "../../skills/scripts/without-undefined.ts";

/** Writes the folder of a skill outside the project, and builds its tools. */
export async function stageSkill(
  parts: ForgeParts,
  draft: AuthoredSkill,
  { stage, signal }: { readonly stage: string; readonly signal: AbortSignal | undefined },
): Promise<void> {
  writeNewFiles(stage, toFiles(draft));
  for (const tool of draft.tools ?? []) {
    const { source, entryFile } = toPlaces(tool);
    if (source === undefined) continue;
    const { buildTool } = await import("../../packages/build/build-tool.ts");
    await buildTool({
      sandbox: await parts.findSandbox(),
      directory: stage,
      source: `${toolFolder(tool.name)}/${source.file}`,
      language: source.language,
      output: `${toolFolder(tool.name)}/${entryFile}`,
      cacheDirectory: parts.buildCache,
      packagesFrom: [parts.folder.directory],
      signal,
    });
  }
}

/** Gives what is staged its version. Nothing of what was tried depends on it. */
export function labelStage(draft: AuthoredSkill, stage: string): FileMap {
  const manifest = renderSkillManifest(draft);
  if (manifest !== undefined) writeFileAtomically(join(stage, manifestName), manifest, { mode: 0o644 });
  const { files } = readFolder(stage, { takesMarks: false, keepsContents: false });
  return new Map(files.map(({ path }) => [path, readFileSync(join(stage, path))]));
}

const manifestName = "kitbag.toml";

function toFiles(draft: AuthoredSkill): FileMap {
  const manifest = renderSkillManifest(draft);
  const texts = {
    ...draft.files,
    "SKILL.md": renderSkill(draft),
    ...(manifest !== undefined && { [manifestName]: manifest }),
    ...Object.fromEntries((draft.tools ?? []).flatMap(toToolFiles)),
  };
  return new Map(Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text)]));
}

function toToolFiles(tool: CodeDraft): readonly (readonly [string, string])[] {
  const files = { ...tool.files, [toPlaces(tool).codeFile]: tool.code };
  return Object.entries(files).map(([path, text]) => [`${toolFolder(tool.name)}/${path}`, text]);
}

/** Runs the examples of a skill's tools. */
export async function trySkill(
  { policy, runtimes, workspace }: ForgeParts,
  { draft, tools }: { readonly draft: SkillDraft; readonly tools: readonly Tool[] },
  { signal, call }: Pick<ChangeOptions, "signal" | "call">,
): Promise<readonly ExampleResult[]> {
  const results: ExampleResult[] = [];
  for (const { name, examples } of draft.tools ?? []) {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) continue;
    const trial = { runtimes, workspace, limitMs: policy.exampleLimitMs, signal, call };
    const tried = await runExamples({ ...tool, examples }, trial);
    results.push(...tried.map((one) => ({ ...one, description: `${name}: ${one.description ?? "example"}` })));
  }
  return results;
}

/** The folder of a tool in the folder of its skill. */
function toolFolder(name: string): string {
  return `tools/${name}`;
}

/** The text of `SKILL.md`. */
function renderSkill({ name, description, instructions }: SkillDraft): string {
  return `---\n${toYaml({ name, description }, { lineWidth: 0 })}---\n\n${instructions.trim()}\n`;
}

/** A draft of a skill, and who makes it. */
interface AuthoredSkill extends SkillDraft {
  readonly author?: ToolAuthor;
}

/** The addresses of all tools of others that a skill and its tools use. */
export function toSkillUses({ uses = [], tools = [] }: SkillDraft): readonly string[] {
  return [...new Set([...uses, ...tools.flatMap((tool) => tool.uses ?? [])])];
}

/** The text of `kitbag.toml`; none if there is nothing to say. */
function renderSkillManifest(draft: AuthoredSkill): string | undefined {
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
