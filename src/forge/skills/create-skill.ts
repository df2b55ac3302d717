import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isKitbagError } from "../../core/errors.ts";
import { joinPermissions, type Permissions } from "../../core/permissions.ts";
import type { Tool } from "../../core/tool.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import { toRealPath } from "../../skills/folder/to-real-path.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { FollowedSkills } from "../../workspace/skills/follow-skills.ts";
import { loadSkills } from "../../workspace/skills/load-workspace-skills.ts";
import { placeFolder, writeFiles, type FileMap } from "../disk/durable-files.ts";
import { checkSkillDraft } from "../drafts/check-draft.ts";
import { findTwin } from "../drafts/check-name.ts";
import { toPlaces } from "../drafts/languages.ts";
import type { ForgeParts } from "../forge-parts.ts";
import type {
  ChangeOptions,
  ExampleResult,
  Forge,
  ForgeDiagnostic,
  RefusedTool,
  SkillAnswer,
} from "../forge-interface.ts";
import { refuseDraft, refuseExamples, toDiagnostics } from "../birth/answer.ts";
import { holdBack } from "../birth/hold-back.ts";
import { runExamples } from "../birth/run-examples.ts";
import type { CodeDraft, SkillDraft } from "../tool-draft.ts";
import { renderSkill, renderSkillManifest, toolFolder } from "./render-skill.ts";

/** Makes skills out of drafts. */
export interface SkillMaker {
  readonly create: Forge["createSkill"];
  /** Makes a draft that was checked. */
  make(draft: SkillDraft, options: MakeOptions): Promise<SkillAnswer>;
}

interface MakeOptions extends ChangeOptions {
  /** What a person has granted beyond the policy. */
  readonly granted?: Permissions;
}

/** Makes what makes skills. `followed` are the skills of the project, if somebody follows them. */
export function createSkillMaker(parts: ForgeParts, followed: FollowedSkills | undefined): SkillMaker {
  async function make(draft: SkillDraft, options: MakeOptions): Promise<SkillAnswer> {
    const refused = refuseTaken(parts, draft.name);
    if (refused !== undefined) return refused;
    const directory = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-forge-")));
    try {
      return await bring(parts, { draft, followed, options, stage: join(directory, draft.name) });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  return {
    make,
    async create(given, options = {}) {
      const checked = checkSkillDraft(given, parts.policy);
      return checked.ok ? make(checked.draft, options) : refuseDraft(checked.name, checked.diagnostics);
    },
  };
}

interface Making {
  readonly draft: SkillDraft;
  readonly stage: string;
  readonly followed: FollowedSkills | undefined;
  readonly options: MakeOptions;
}

/** Why there cannot be a new skill of this name. */
function refuseTaken({ folder, workspace }: ForgeParts, name: string): RefusedTool | undefined {
  const refuse = (code: string, message: string): RefusedTool =>
    refuseDraft(name, [{ severity: "error", code, message, file: "draft" }]);
  const known = workspace.getSkills().map(({ skill }) => skill.name);
  const twin = findTwin(name, known);
  if (known.includes(name)) return refuse("name-taken", "there is already a skill of this name; take another one");
  if (twin !== undefined)
    return refuse("name-taken", `there is "${twin}", which is the same name where case does not count`);
  if (readFolder(join(folder.skills, name)).files.length > 0) {
    return refuse("name-taken", `.kitbag/skills/${name} is there already; take another name, or remove it`);
  }
  return undefined;
}

async function bring(parts: ForgeParts, making: Making): Promise<SkillAnswer> {
  const { draft, stage, options } = making;
  try {
    await writeStage(parts, making);
  } catch (cause) {
    options.signal?.throwIfAborted();
    return refuseDraft(draft.name, toDiagnostics(cause));
  }
  const { reports } = await loadSkills({ directories: [stage] });
  const [report] = reports;
  const diagnostics = report?.diagnostics ?? [];
  const tools = draft.tools ?? [];
  if (report?.skill === undefined || report.tools.length < tools.length) {
    return refuseDraft(
      draft.name,
      diagnostics.filter(({ severity }) => severity !== "info"),
    );
  }
  const asked = joinPermissions(tools.map((tool) => tool.permissions ?? {}));
  const { granted, author = parts.author } = options;
  const held = await holdBack(parts, { draft, asked, granted, author });
  if (held !== undefined) return held;
  const examples = await tryTools(parts, making, report.skill.tools);
  if (examples.some((one) => !one.passed)) return refuseExamples(draft.name, examples);
  return makeLive(parts, making, diagnostics);
}

async function writeStage(parts: ForgeParts, { draft, stage, options }: Making): Promise<void> {
  writeFiles(stage, toFiles(draft));
  for (const tool of draft.tools ?? []) {
    const { source, entryFile } = toPlaces(tool);
    if (source === undefined) continue;
    const { buildTool } = await import("../../runtimes/build/build-tool.ts");
    await buildTool({
      sandbox: await parts.findSandbox(),
      directory: stage,
      source: `${toolFolder(tool.name)}/${source.file}`,
      language: source.language,
      output: `${toolFolder(tool.name)}/${entryFile}`,
      cacheDirectory: parts.buildCache,
      packagesFrom: [parts.folder.directory],
      signal: options.signal,
    });
  }
}

function toFiles(draft: SkillDraft): FileMap {
  const manifest = renderSkillManifest(draft);
  const texts = {
    ...draft.files,
    "SKILL.md": renderSkill(draft),
    ...(manifest !== undefined && { "kitbag.toml": manifest }),
    ...Object.fromEntries((draft.tools ?? []).flatMap(toToolFiles)),
  };
  return new Map(Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text)]));
}

function toToolFiles(tool: CodeDraft): readonly (readonly [string, string])[] {
  const files = { ...tool.files, [toPlaces(tool).codeFile]: tool.code };
  return Object.entries(files).map(([path, text]) => [`${toolFolder(tool.name)}/${path}`, text]);
}

async function tryTools(
  { policy, runtimes, workspace }: ForgeParts,
  { draft, options }: Making,
  tools: readonly Tool[],
): Promise<readonly ExampleResult[]> {
  const results: ExampleResult[] = [];
  for (const { name, examples } of draft.tools ?? []) {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) continue;
    const { signal, call } = options;
    const trial = { runtimes, workspace, limitMs: policy.exampleLimitMs, signal, call };
    const tried = await runExamples({ ...tool, examples }, trial);
    results.push(...tried.map((one) => ({ ...one, description: `${name}: ${one.description ?? "example"}` })));
  }
  return results;
}

async function makeLive(
  { folder, trust, workspace }: ForgeParts,
  { draft, stage, followed }: Making,
  diagnostics: readonly ForgeDiagnostic[],
): Promise<SkillAnswer> {
  const { name } = draft;
  const target = join(folder.skills, name);
  folder.ensure(folder.skills);
  const { files, digest } = readFolder(stage, { takesMarks: false });
  const bytes: FileMap = new Map(files.map(({ path }) => [path, readFileSync(join(stage, path))]));
  // Trusted before it is there: whoever follows the folder sees it as something that may run.
  await trust.trust([{ directory: toRealPath(target), files, digest }]);
  placeFolder(target, bytes, join(folder.directory, ".kitbag"));
  const refused = followed === undefined ? await addSkill(workspace, target) : await waitFor(followed, target);
  if (refused !== undefined) return refuseDraft(name, refused);
  const tools = (draft.tools ?? []).map((tool) => `${name}/${tool.name}`);
  return {
    status: "live",
    name,
    path: `.kitbag/skills/${name}`,
    tools,
    howToCall: [
      `Open it: activate_skill {"name": ${JSON.stringify(name)}}`,
      ...tools.map((tool) => `Then call ${tool}`),
    ],
    diagnostics: diagnostics.filter(({ code }) => code !== "skill-untrusted"),
  };
}

async function addSkill(
  workspace: ForgeParts["workspace"],
  target: string,
): Promise<readonly ForgeDiagnostic[] | undefined> {
  const { reports } = await loadSkills({ directories: [target] });
  const [report] = reports;
  if (report?.skill === undefined) return report?.diagnostics ?? [];
  try {
    workspace.addSkill(report.skill);
    return undefined;
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    return [{ severity: "error", code: cause.code, message: cause.message, file: "SKILL.md" }];
  }
}

const longestWaitMs = 10_000;

/** Whoever follows the folder of skills adds it. */
async function waitFor(followed: FollowedSkills, target: string): Promise<readonly ForgeDiagnostic[] | undefined> {
  const directory = toRealPath(target);
  const find = (): SkillReport | undefined => followed.reports().find((one) => one.directory === directory);
  if (find() === undefined) {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        stop();
        resolve();
      };
      const timer = setTimeout(done, longestWaitMs);
      const stop = followed.onReload(() => {
        if (find() !== undefined) done();
      });
    });
  }
  const report = find();
  if (report?.skill !== undefined) return undefined;
  const message = "the folder was written, but nobody who follows skills has seen it";
  return report?.diagnostics ?? [{ severity: "error", code: "skill-unseen", message, file: "SKILL.md" }];
}
