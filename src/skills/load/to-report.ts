import type { Diagnostic } from "../../core/diagnostics.ts";
import { isName } from "../../core/names.ts";
import type { SkillFolder } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import type { SkillCode } from "../code/load-skill-code.ts";
import { emptyManifest, type SkillManifest, type ManifestTool } from "../manifests/skill-manifest.ts";
import { checkCommands } from "./check-commands.ts";
import { checkDeclared } from "./check-declared.ts";
import { checkTools } from "./check-tools.ts";
import { describeTrust } from "./describe-trust.ts";
import type { SkillFacts } from "./skill-facts.ts";
import type { SkillReport, ToolReport } from "./skill-report.ts";
import type { SkillPlace, SkillSources } from "./skill-sources.ts";
import { findOverruled, toHead, toSkill, type SkillHead } from "./to-skill.ts";
import { addTests } from "./add-tests.ts";
import { toCodeTool, toManifestTool, toScriptTool, type MakePipeline, type ToolFrame } from "./to-tools.ts";
import { toUses } from "./to-uses.ts";

/** What a report needs that is not in the files. */
export interface ReportParts {
  readonly makePipeline?: MakePipeline;
  /** What loading the skill's own code gave. @default it was not loaded */
  readonly code?: SkillCode;
}

/** Makes a skill, or the reason why there is none, out of what its files say and what its code defines. */
export function toReport(read: SkillFacts, place: SkillPlace, { makePipeline, code }: ReportParts = {}): SkillReport {
  const facts = checkTools(read);
  const { path, folder } = place;
  const manifest = facts.manifest ?? { ...emptyManifest, file: "" };
  const sources = { facts, manifest, defined: code?.ok === true ? code.skill : undefined };
  const named = toHead(sources, place);
  const { name, description } = named;
  const known = code?.ok === false ? [...facts.diagnostics, code.diagnostic] : facts.diagnostics;
  const fatal = known.some((one) => one.severity === "error");
  const head = { path, directory: folder.directory, name, scripts: facts.scripts };
  if (fatal || description === undefined || !isSkillName(name)) {
    const diagnostics = fatal ? known : [...known, whyNot(name, description)];
    return { ...head, status: "skipped", diagnostics, tools: [] };
  }
  const frame = toFrame(named, folder, manifest);
  const made = makeTools(frame, sources, makePipeline);
  const taken = made.tools.map((tool) => tool.name);
  const used = toUses(sources, taken);
  const skill = toSkill(sources, { ...named, description }, { folder, frame, tools: made.tools, used });
  const diagnostics = [
    ...known,
    ...facts.scriptDiagnostics,
    ...made.diagnostics,
    ...used.diagnostics,
    ...findOverruled(sources, named),
    ...checkDeclared(facts.scripts, named.permissions, facts.manifest),
    ...checkCommands(facts.document, skill.commands),
    ...describeTrust(folder),
  ];
  const status = diagnostics.some((one) => one.severity !== "info") ? "warning" : "ok";
  return { ...head, status, diagnostics, tools: made.reports, skill };
}

function toFrame(
  { name, permissions, version }: SkillHead,
  folder: SkillFolder,
  { dependencies }: Pick<SkillManifest, "dependencies">,
): ToolFrame {
  const files = new Map(folder.files.map((file) => [file.path, file]));
  return { skill: name, directory: folder.directory, folder, files, permissions, version, dependencies };
}

/** The workspace itself is called "global". */
function isSkillName(name: string): boolean {
  return isName(name) && name !== "global";
}

function whyNot(name: string, description: string | undefined): Diagnostic {
  const message =
    description === undefined
      ? "There is no description of what the skill does"
      : `"${name}" cannot be the name of a skill`;
  return { severity: "error", code: "skill-unusable", message, file: "SKILL.md" };
}

interface MadeTools {
  readonly tools: readonly Tool[];
  readonly reports: readonly ToolReport[];
  readonly diagnostics: readonly Diagnostic[];
}

function makeTools(
  frame: ToolFrame,
  { facts, manifest, defined }: SkillSources,
  makePipeline: MakePipeline | undefined,
): MadeTools {
  const listedFiles = new Set(manifest.tools.map((tool) => tool.file?.replace(/^\.\//u, "")));
  const derived = facts.scripts
    .filter((script) => !listedFiles.has(script.path))
    .flatMap((script) =>
      script.tools.filter((tool) => tool.hidden !== true).map((tool) => toScriptTool(frame, script, tool)),
    );
  const listed = manifest.tools
    .filter((tool) => tool.kind !== "reuse")
    .map((tool) => toManifestTool(frame, tool, { makePipeline, isOneOfSeveral: hasSibling(tool, manifest.tools) }));
  const own = (defined?.tools ?? []).map((tool) => toCodeTool(frame, tool, facts.code ?? ""));
  const diagnostics: Diagnostic[] = [];
  const byName = new Map<string, { tool: Tool; report: ToolReport }>();
  // What a manifest says goes before what code says, and that before what was derived.
  for (const one of [...listed, ...own, ...derived]) {
    if (!one.ok) diagnostics.push({ ...one.diagnostic, severity: "warning" });
    else if (byName.has(one.tool.name)) diagnostics.push(duplicate(one.report, byName.get(one.tool.name)?.report));
    else byName.set(one.tool.name, one);
  }
  const kept = [...byName.values()];
  const tested = addTests(
    kept.map((one) => one.tool),
    manifest,
  );
  return {
    tools: tested.tools,
    reports: kept.map((one) => one.report),
    diagnostics: [...diagnostics, ...tested.diagnostics],
  };
}

/** Whether another tool is in the same file. */
function hasSibling({ name, file }: ManifestTool, tools: readonly ManifestTool[]): boolean {
  return tools.some((other) => other.name !== name && other.file !== undefined && other.file === file);
}

function duplicate(lost: ToolReport, kept: ToolReport | undefined): Diagnostic {
  const message = `Left out the tool "${lost.name}" of ${lost.file ?? "the manifest"}: ${kept?.file ?? "the manifest"} already has one of this name`;
  const cure = "give one of them another name in scripts/manifest.yml";
  return { severity: "warning", code: "tool-duplicate", message, file: lost.file ?? "", cure };
}
