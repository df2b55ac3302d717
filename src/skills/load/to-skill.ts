import type { Diagnostic } from "../../core/diagnostics.ts";
import { type McpSource, toMcpSource } from "../../core/mcp-source.ts";
import { isName } from "../../core/names.ts";
import { joinPermissions, type Permissions } from "../../core/permissions.ts";
import type { CodeFolder } from "../../core/script-code.ts";
import type { Skill, SkillFolder } from "../../core/skill.ts";
import { toPermissions as grantedPermissions, type SkillGrant } from "../../core/skill-grant.ts";
import type { Tool, ToolAuthor } from "../../core/tool.ts";
import { emptyDefined, type DefinedSkill } from "../code/to-defined-skill.ts";
import { renderSkillBody } from "../document/render-skill-body.ts";
import type { SkillDocument } from "../document/skill-document.ts";
import { showPath } from "../../platform/paths.ts";
import { findToolReferences } from "../document/tool-references.ts";
import type { SkillManifest } from "../manifests/skill-manifest.ts";
import type { SkillFacts } from "./skill-facts.ts";
import type { SkillPlace, SkillSources } from "./skill-sources.ts";
import { createCommands } from "./to-commands.ts";
import type { ToolFrame } from "./to-tools.ts";
import type { SkillUses } from "./to-uses.ts";

/** What names a skill. */
export interface SkillHead {
  readonly name: string;
  /** Not set when nothing says what it does. */
  readonly description: string | undefined;
  readonly version: string | undefined;
  /** One grant for the skill and all its tools. */
  readonly permissions: Permissions;
  /** The part of it that its own files ask for, if a person granted more from outside. */
  readonly declared: Permissions | undefined;
}

/** Reads what names a skill; its folder does if nothing else does. */
export function toHead({ facts, manifest, defined }: SkillSources, { folder, folderName }: SkillPlace): SkillHead {
  const { document } = facts;
  const declared = toPermissions(facts, manifest, defined);
  return {
    name: toName(document?.name ?? manifest.name ?? defined?.name ?? folderName, folderName),
    description: document?.description ?? manifest.description ?? describeCode(folder, defined),
    version: toVersion(manifest.version ?? document?.version ?? defined?.version),
    ...withGranted(declared, grantOf(folder)),
  };
}

/** What a person granted from outside goes beside what the files ask for. */
function withGranted(
  declared: Permissions,
  granted: SkillGrant | undefined,
): Pick<SkillHead, "declared" | "permissions"> {
  if (granted === undefined) return { permissions: declared, declared: undefined };
  return { permissions: joinPermissions([declared, grantedPermissions(granted)]), declared };
}

/** What a person granted from outside to the skill in a folder. */
export function grantOf({ trust }: Pick<SkillFolder, "trust">): SkillGrant | undefined {
  return trust.status === "trusted" ? trust.granted : undefined;
}

/** A folder called "figma.review" holds the skill "review" that was imported under a longer name, beside another one. */
function toName(own: string, folderName: string): string {
  return folderName.endsWith(`.${own}`) && isName(folderName) ? folderName : own;
}

/** It is not known what a skill does if its code was not loaded and it says nothing else. */
function describeCode({ code, directory }: SkillFolder, defined: DefinedSkill | undefined): string | undefined {
  if (code === undefined || defined !== undefined) return defined?.description;
  return `Not known until its ${code} is trusted; read it, then run: kitbag trust ${showPath(directory)}`;
}

/** The parts of a skill besides the facts of its sources. */
export interface SkillParts {
  readonly folder: SkillFolder;
  readonly frame: ToolFrame;
  readonly tools: readonly Tool[];
  readonly used: SkillUses;
}

/** Holds the tools of a skill that was made with the forge to what its author may call. */
function withAuthor(tools: readonly Tool[], author: ToolAuthor | undefined): readonly Tool[] {
  return author === undefined ? tools : tools.map((tool) => ({ ...tool, author }));
}

/** The author that the forge has recorded, with scopes or an owner; one that was only written there is text. */
function toAuthor({ author: user, authorScopes: scopes, owner, shared }: SkillManifest): ToolAuthor | undefined {
  if (scopes === undefined && owner === undefined) return undefined;
  return {
    ...(user !== undefined && { user }),
    scopes: scopes ?? "all",
    ...(owner !== undefined && { owner }),
    ...(shared !== undefined && { shared }),
  };
}

/** Makes a skill of what is known about it. */
export function toSkill(
  { facts, manifest, defined: given }: SkillSources,
  head: SkillHead & { readonly description: string },
  parts: SkillParts,
): Skill {
  const { folder, frame, used } = parts;
  const author = toAuthor(manifest);
  const tools = withAuthor(parts.tools, author);
  const defined = given ?? emptyDefined;
  // What nothing is known about is not offered to a model.
  const isKnown = given !== undefined || folder.code === undefined || facts.document !== undefined;
  const { version, declared, ...named } = head;
  const { displayName = defined.displayName } = manifest;
  const { onActivate, onDeactivate } = defined;
  return {
    ...named,
    ...(declared !== undefined && { declared }),
    ...(displayName !== undefined && { displayName }),
    ...(version !== undefined && { version }),
    capabilities: manifest.capabilities.length > 0 ? manifest.capabilities : defined.capabilities,
    tools,
    uses: used.uses,
    reuses: used.reuses,
    requires: [...new Set([...manifest.requires, ...defined.requires])],
    exclusive: manifest.exclusive || defined.exclusive,
    modelInvocable: isKnown && isInvocable(facts.document, defined),
    folder,
    ...(author !== undefined && { author }),
    ...toServers(manifest, frame),
    ...toText(facts, defined, frame),
    ...(onActivate !== undefined && { onActivate }),
    ...(onDeactivate !== undefined && { onDeactivate }),
  };
}

/** The servers of a manifest, each with the one grant that the skill has. What is wrong with them was told when it was read. */
function toServers({ mcp = {} }: SkillManifest, { skill, permissions, folder }: ToolFrame): Pick<Skill, "servers"> {
  const servers = Object.entries(mcp)
    .map(([name, listed]) => toMcpSource(name, listed, { skill, permissions, folder }))
    .filter((source): source is McpSource => typeof source !== "string");
  return servers.length === 0 ? {} : { servers };
}

function isInvocable(document: SkillDocument | undefined, defined: DefinedSkill): boolean {
  return document?.modelInvocable !== false && defined.modelInvocable;
}

/** The instructions of SKILL.md; without any, those of the code. */
function toText(
  { document, scripts }: SkillFacts,
  { instructions }: DefinedSkill,
  frame: ToolFrame,
): Pick<Skill, "commands" | "instructions" | "mentions" | "render"> {
  const isOfCode = instructions !== "" && (document === undefined || document.body.trim() === "");
  if (isOfCode) return { instructions, mentions: findMentions(instructions) };
  if (document === undefined) return { instructions };
  return {
    instructions: document.body,
    mentions: findMentions(document.body),
    render: createRender(document, frame.folder),
    commands: createCommands({ document, frame, scripts }),
  };
}

/** Says where manifest or document go before what the code says. */
export function findOverruled({ facts, manifest, defined }: SkillSources, head: SkillHead): Diagnostic[] {
  const file = facts.code;
  if (defined === undefined || file === undefined) return [];
  const winner = facts.document?.file ?? manifest.file;
  const says = [
    ["name", defined.name, head.name],
    ["version", toVersion(defined.version) ?? head.version, head.version],
  ] as const;
  return says
    .filter(([, own, used]) => own !== used)
    .map(([what, own, used]): Diagnostic => {
      const message = `Says the ${what} "${own}", but ${winner} says "${used}" and goes before it`;
      return { severity: "warning", code: "code-overruled", message, file, cure: `write the same ${what} in both` };
    });
}

/** Many authors write `1.0` or `v2`; what cannot be compared is no version. */
function toVersion(version: string | undefined): string | undefined {
  const [, major, minor = ".0", patch = ".0", rest = ""] =
    /^v?(\d{1,9})(\.\d{1,9})?(\.\d{1,9})?([-+][0-9A-Za-z.+-]{1,64})?$/u.exec(version?.trim() ?? "") ?? [];
  return major === undefined ? undefined : `${major}${minor}${patch}${rest}`;
}

/** What was read before it was trusted is what is granted; only without any manifest, what the code says. */
function toPermissions(facts: SkillFacts, manifest: SkillManifest, defined: DefinedSkill | undefined): Permissions {
  if (facts.manifest === undefined) return defined?.permissions ?? {};
  if (!manifest.grantsSeenEnvironment) return manifest.permissions;
  const env = facts.scripts.flatMap((script) => script.environment.map((variable) => variable.name));
  return joinPermissions([manifest.permissions, { env }]);
}

function findMentions(text: string): string[] {
  const references = findToolReferences(text).filter((reference) => !reference.inCodeBlock);
  return [...new Set(references.map((reference) => reference.address))];
}

function createRender(document: SkillDocument, folder: CodeFolder): NonNullable<Skill["render"]> {
  const others = folder.files.map((file) => file.path).filter((path) => !/^skill\.md$/iu.test(path));
  return (argumentText, { answers = [], directory = folder.directory, prose, onDiagnostic } = {}) => {
    const { text, diagnostics } = renderSkillBody(document, {
      arguments: argumentText,
      directory,
      files: others,
      shell: (_command, index) => answers[index],
      ...(prose !== undefined && { prose }),
    });
    for (const diagnostic of diagnostics) onDiagnostic?.(diagnostic);
    return text;
  };
}
