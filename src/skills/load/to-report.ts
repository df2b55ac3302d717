import { toToolUse } from "../../core/define-skill.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import { describeProblem, type Problem } from "../../core/errors.ts";
import { isName } from "../../core/names.ts";
import { joinPermissions, type Permissions } from "../../core/permissions.ts";
import type { Skill, SkillFolder, ToolReuse, ToolUse } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import { renderSkillBody } from "../document/render-skill-body.ts";
import type { SkillDocument } from "../document/skill-document.ts";
import { findToolReferences } from "../document/tool-references.ts";
import { emptyManifest, type SkillManifest } from "../manifests/skill-manifest.ts";
import type { SkillFacts } from "./skill-facts.ts";
import type { SkillReport, ToolReport } from "./skill-report.ts";
import { toManifestTool, toScriptTool, type MakePipeline, type ToolFrame } from "./to-tools.ts";

/** Where a skill is, for its report. */
export interface SkillPlace {
  readonly path: string;
  readonly folder: SkillFolder;
  /** The name of the folder, or of the plugin and the folder. */
  readonly folderName: string;
}

/** Makes a skill, or the reason why there is none, out of what its files say. */
export function toReport(facts: SkillFacts, place: SkillPlace, makePipeline?: MakePipeline): SkillReport {
  const { document, scripts } = facts;
  const manifest = facts.manifest ?? { ...emptyManifest, file: "" };
  const name = document?.name ?? manifest.name ?? place.folderName;
  const description = document?.description ?? manifest.description;
  const diagnostics = [...facts.diagnostics];
  const fatal = diagnostics.some((one) => one.severity === "error");
  if (fatal || description === undefined || !isName(name)) {
    if (!fatal) diagnostics.push(whyNot(name, description));
    return {
      path: place.path,
      directory: place.folder.directory,
      name,
      status: "skipped",
      diagnostics,
      tools: [],
      scripts,
    };
  }
  const version = toVersion(manifest.version ?? document?.version);
  const frame: ToolFrame = {
    skill: name,
    directory: place.folder.directory,
    files: new Map(place.folder.files.map((file) => [file.path, file])),
    permissions: toPermissions(facts, manifest),
    version,
  };
  const made = makeTools(frame, facts, manifest, makePipeline);
  diagnostics.push(...made.diagnostics);
  const skill = toSkill(
    { name, description, document, manifest, frame, folder: place.folder, tools: made.tools },
    diagnostics,
  );
  const status = diagnostics.some((one) => one.severity !== "info") ? "warning" : "ok";
  return {
    path: place.path,
    directory: place.folder.directory,
    name,
    status,
    diagnostics,
    tools: made.reports,
    scripts,
    skill,
  };
}

interface SkillSources {
  readonly name: string;
  readonly description: string;
  readonly document: SkillDocument | undefined;
  readonly manifest: SkillManifest;
  readonly frame: ToolFrame;
  readonly folder: SkillFolder;
  readonly tools: readonly Tool[];
}

function toSkill(
  { name, description, document, manifest, frame, folder, tools }: SkillSources,
  diagnostics: Diagnostic[],
): Skill {
  return {
    name,
    description,
    ...(manifest.displayName !== undefined && { displayName: manifest.displayName }),
    ...(frame.version !== undefined && { version: frame.version }),
    capabilities: manifest.capabilities,
    instructions: document?.body ?? "",
    tools,
    ...toUses(document, manifest, diagnostics),
    ...toMentions(document),
    requires: manifest.requires,
    exclusive: manifest.exclusive,
    permissions: frame.permissions,
    modelInvocable: document?.modelInvocable ?? true,
    folder,
    ...(document !== undefined && { render: createRender(document, folder) }),
  };
}

function whyNot(name: string, description: string | undefined): Diagnostic {
  const message =
    description === undefined
      ? "There is no description of what the skill does"
      : `"${name}" cannot be the name of a skill`;
  return { severity: "error", code: "skill-unusable", message, file: "SKILL.md" };
}

function toVersion(version: string | undefined): string | undefined {
  return version !== undefined && /^\d+\.\d+\.\d+/u.test(version) ? version : undefined;
}

/** One grant for the skill and all its tools. */
function toPermissions({ scripts }: SkillFacts, manifest: SkillManifest): Permissions {
  if (!manifest.grantsSeenEnvironment) return manifest.permissions;
  const env = scripts.flatMap((script) => script.environment.map((variable) => variable.name));
  return joinPermissions([manifest.permissions, { env }]);
}

interface MadeTools {
  readonly tools: readonly Tool[];
  readonly reports: readonly ToolReport[];
  readonly diagnostics: readonly Diagnostic[];
}

function makeTools(
  frame: ToolFrame,
  facts: SkillFacts,
  manifest: SkillManifest,
  makePipeline?: MakePipeline,
): MadeTools {
  const listedFiles = new Set(manifest.tools.map((tool) => tool.file));
  const derived = facts.scripts
    .filter((script) => !listedFiles.has(script.path))
    .flatMap((script) =>
      script.tools.filter((tool) => tool.hidden !== true).map((tool) => toScriptTool(frame, script, tool)),
    );
  const listed = manifest.tools
    .filter((tool) => tool.kind !== "reuse")
    .map((tool) => toManifestTool(frame, tool, makePipeline));
  const diagnostics: Diagnostic[] = [];
  const byName = new Map<string, { tool: Tool; report: ToolReport }>();
  for (const one of [...derived, ...listed]) {
    if (!one.ok) diagnostics.push({ ...one.diagnostic, severity: "warning" });
    else if (byName.has(one.tool.name)) diagnostics.push(duplicate(one.report, byName.get(one.tool.name)?.report));
    else byName.set(one.tool.name, one);
  }
  const kept = [...byName.values()];
  return { tools: kept.map((one) => one.tool), reports: kept.map((one) => one.report), diagnostics };
}

function duplicate(lost: ToolReport, kept: ToolReport | undefined): Diagnostic {
  const message = `Left out the tool "${lost.name}" of ${lost.file ?? "the manifest"}: ${kept?.file ?? "the manifest"} already has one of this name`;
  const cure = "give one of them another name in scripts/manifest.yml";
  return { severity: "warning", code: "tool-duplicate", message, file: lost.file ?? "", cure };
}

function toUses(
  document: SkillDocument | undefined,
  manifest: SkillManifest,
  diagnostics: Diagnostic[],
): { uses: ToolUse[]; reuses: ToolReuse[] } {
  const problems: Problem[] = [];
  const declared = (document?.tools ?? []).filter((tool) => tool.from === "metadata");
  const uses = [
    ...declared.map((tool) => toToolUse(tool.reference, `metadata.kitbag-tools`, problems)),
    ...manifest.uses.map((text, index) => toToolUse(text, `skill.uses[${index}]`, problems)),
  ];
  const reuses = manifest.tools
    .filter((tool) => tool.kind === "reuse")
    .map(({ name, uses: text, description, locked = {} }): ToolReuse => {
      const use = toToolUse(text, `tools.${name}.uses`, problems);
      return { name, uses: use, locked, ...(description !== undefined && { description }) };
    });
  for (const problem of problems) {
    diagnostics.push({
      severity: "warning",
      code: "use-invalid",
      message: describeProblem(problem),
      file: manifest.file || "SKILL.md",
    });
  }
  return { uses: [...uses, ...reuses.map((reuse) => reuse.uses)].filter((use) => use.address !== ""), reuses };
}

function toMentions(document: SkillDocument | undefined): { mentions?: readonly string[] } {
  if (document === undefined) return {};
  const references = findToolReferences(document.body).filter((reference) => !reference.inCodeBlock);
  return { mentions: [...new Set(references.map((reference) => reference.address))] };
}

function createRender(document: SkillDocument, folder: SkillFolder): (argumentText: string) => string {
  const files = folder.files.map((file) => file.path).filter((path) => !/^skill\.md$/iu.test(path));
  return (argumentText) =>
    renderSkillBody(document, { arguments: argumentText, directory: folder.directory, files }).text;
}
