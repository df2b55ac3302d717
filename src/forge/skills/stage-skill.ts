import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Tool } from "../../core/tool.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import { writeFileAtomically, writeNewFiles, type FileMap } from "../../platform/files.ts";
import { toPlaces } from "../drafts/languages.ts";
import type { ForgeParts } from "../forge-parts.ts";
import type { ChangeOptions, ExampleResult } from "../forge-interface.ts";
import { runExamples } from "../birth/run-examples.ts";
import type { CodeDraft, SkillDraft } from "../tool-draft.ts";
import { renderSkill, renderSkillManifest, toolFolder, type AuthoredSkill } from "./render-skill.ts";

/** Writes the folder of a skill where nobody looks, and builds its tools. */
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
