import type { Diagnostic } from "../../core/diagnostics.ts";
import { isName } from "../../core/names.ts";
import { joinPermissions, type Permissions } from "../../core/permissions.ts";
import type { Skill, SkillFolder } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import { renderSkillBody } from "../document/render-skill-body.ts";
import type { SkillDocument } from "../document/skill-document.ts";
import { findToolReferences } from "../document/tool-references.ts";
import { emptyManifest, type SkillManifest } from "../manifests/skill-manifest.ts";
import { checkDeclared } from "./check-declared.ts";
import { checkTools } from "./check-tools.ts";
import { describeTrust } from "./describe-trust.ts";
import type { SkillFacts } from "./skill-facts.ts";
import type { SkillReport, ToolReport } from "./skill-report.ts";
import { toManifestTool, toScriptTool, type MakePipeline, type ToolFrame } from "./to-tools.ts";
import { toUses, type SkillUses } from "./to-uses.ts";

/** Where a skill is, for its report. */
export interface SkillPlace {
  readonly path: string;
  readonly folder: SkillFolder;
  /** The name of the folder, or of the plugin and the folder. */
  readonly folderName: string;
}

/** Makes a skill, or the reason why there is none, out of what its files say. */
export function toReport(read: SkillFacts, place: SkillPlace, makePipeline?: MakePipeline): SkillReport {
  const facts = checkTools(read);
  const { document, scripts } = facts;
  const { path, folder } = place;
  const manifest = facts.manifest ?? { ...emptyManifest, file: "" };
  const name = document?.name ?? manifest.name ?? place.folderName;
  const description = document?.description ?? manifest.description;
  const fatal = facts.diagnostics.some((one) => one.severity === "error");
  const head = { path, directory: folder.directory, name, scripts };
  if (fatal || description === undefined || !isSkillName(name)) {
    const diagnostics = fatal ? facts.diagnostics : [...facts.diagnostics, whyNot(name, description)];
    return { ...head, status: "skipped", diagnostics, tools: [] };
  }
  const frame = toFrame(name, folder, facts, manifest);
  const made = makeTools(frame, facts, manifest, makePipeline);
  const taken = made.tools.map((tool) => tool.name);
  const used = toUses(document, manifest, taken);
  const skill = toSkill({ name, description, document, manifest, frame, folder, tools: made.tools, used });
  const diagnostics = [
    ...facts.diagnostics,
    ...facts.scriptDiagnostics,
    ...made.diagnostics,
    ...used.diagnostics,
    ...checkDeclared(scripts, frame.permissions, facts.manifest),
    ...describeTrust(folder),
  ];
  const status = diagnostics.some((one) => one.severity !== "info") ? "warning" : "ok";
  return { ...head, status, diagnostics, tools: made.reports, skill };
}

function toFrame(skill: string, folder: SkillFolder, facts: SkillFacts, manifest: SkillManifest): ToolFrame {
  return {
    skill,
    directory: folder.directory,
    files: new Map(folder.files.map((file) => [file.path, file])),
    permissions: toPermissions(facts, manifest),
    version: toVersion(manifest.version ?? facts.document?.version),
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
  readonly used: SkillUses;
}

function toSkill({ name, description, document, manifest, frame, folder, tools, used }: SkillSources): Skill {
  return {
    name,
    description,
    ...(manifest.displayName !== undefined && { displayName: manifest.displayName }),
    ...(frame.version !== undefined && { version: frame.version }),
    capabilities: manifest.capabilities,
    instructions: document?.body ?? "",
    tools,
    uses: used.uses,
    reuses: used.reuses,
    ...toMentions(document),
    requires: manifest.requires,
    exclusive: manifest.exclusive,
    permissions: frame.permissions,
    modelInvocable: document?.modelInvocable ?? true,
    folder,
    ...(document !== undefined && { render: createRender(document, folder) }),
  };
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

/** Many authors write `1.0` or `v2`; what cannot be compared is no version. */
function toVersion(version: string | undefined): string | undefined {
  const [, major, minor = ".0", patch = ".0", rest = ""] =
    /^v?(\d{1,9})(\.\d{1,9})?(\.\d{1,9})?([-+][0-9A-Za-z.+-]{1,64})?$/u.exec(version?.trim() ?? "") ?? [];
  return major === undefined ? undefined : `${major}${minor}${patch}${rest}`;
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
  const listedFiles = new Set(manifest.tools.map((tool) => tool.file?.replace(/^\.\//u, "")));
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
  // What a manifest says goes before what was derived.
  for (const one of [...listed, ...derived]) {
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
