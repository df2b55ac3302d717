import type { ForgeAnswer, SkillAnswer, WaitingTool } from "../../forge/forge-interface.ts";
import { describeAsking, describeWish, describePermissions } from "../../forge/permissions-beyond.ts";
import type { WaitingDraft } from "../../forge/waiting-drafts.ts";
import type { Answer, CliContext, Invocation } from "../cli-command.ts";
import { toPrintable } from "../printable.ts";
import { renderTable, renderFacts, renderPatch, showTime } from "../render.ts";
import { noteUsers, renderCalls } from "./render-forged.ts";
import { failedAnswer } from "../report-error.ts";
import { hasMadeTools } from "../store/find-project.ts";
import { isKitbagError } from "../../core/errors.ts";
import { toPlaces } from "../../forge/drafts/languages.ts";
import { type CodeDraft, isSkillDraft, type SkillDraft, type ToolDraft } from "../../forge/drafts/tool-draft.ts";
import { toPatch } from "../../records/versions/diff-versions.ts";
import { renderOpened } from "../render-tool.ts";

/** Drafts of tools and skills that wait for a person, because they want more than the policy grants. */
export async function listWaitingDrafts(context: CliContext): Promise<readonly WaitingDraft[]> {
  if (!hasMadeTools(context.cwd)) return [];
  const { createToolsFolder } = await import("../../forge/disk/tools-folder.ts");
  const { createWaitingDrafts } = await import("../../forge/waiting-drafts.ts");
  const drafts = createWaitingDrafts(createToolsFolder(context.cwd));
  return drafts.list().map(({ id }) => drafts.get(id));
}

/** The draft whose id begins with `given`; nothing if no draft or several drafts fit. */
export async function findWaitingDraft(context: CliContext, given: string): Promise<WaitingDraft | undefined> {
  const all = await listWaitingDrafts(context);
  const [found, ...others] = all.filter(({ waiting: { id } }) => given.length >= 4 && id.startsWith(given));
  return others.length > 0 ? undefined : found;
}

/** The drafts as a table: what each wants is what the person decides about. */
export function renderDrafts(drafts: readonly WaitingDraft[], { terminal }: Pick<Invocation, "terminal">): string {
  const rows = drafts.map(({ waiting }) => [
    waiting.id,
    `${waiting.makes} ${waiting.name}`,
    describeWish(waiting),
    waiting.owner ?? waiting.author ?? "",
    waiting.description,
  ]);
  return renderTable(["DRAFT", "MAKES", "WANTS", "ASKED BY", "DESCRIPTION"], rows, terminal);
}

/** Approves or denies the draft whose id begins with `given`; nothing if none does. */
export async function decideDraft(
  invocation: Invocation,
  given: string,
  decision: "approve" | "deny",
): Promise<Answer | undefined> {
  const draft = (await findWaitingDraft(invocation, given))?.waiting;
  if (draft === undefined) return undefined;
  if (decision === "approve") return approveDraft(invocation, draft);
  const { withForge } = await import("./with-forge.ts");
  return withForge(invocation, async (forge) => {
    await forge.deny(draft.id);
    return { document: { draft: draft.id, decision }, text: toPrintable(`Denied ${draft.name}.`) };
  });
}

/** A draft may call tools of the configuration and of skills: they must be there when it is tried. */
async function approveDraft(invocation: Invocation, draft: WaitingTool): Promise<Answer> {
  const [{ openProject }, { openWorkshop }] = await Promise.all([
    import("../open-project.ts"),
    import("./open-workshop.ts"),
  ]);
  const project = openProject({ ...invocation, makesTools: true });
  try {
    const workshop = await openWorkshop(project, { hasForge: true });
    try {
      return toAnswer(await workshop.forge.approve(draft.id), draft);
    } finally {
      await workshop.close();
    }
  } finally {
    await project.close();
  }
}

function toAnswer(answer: ForgeAnswer | SkillAnswer, { id }: WaitingTool): Answer {
  if (answer.status === "refused") return failedAnswer(answer.error);
  const { name, status } = answer;
  const version = "version" in answer ? `, at ${answer.version}` : "";
  const usedBy = "usedBy" in answer ? { usedBy: answer.usedBy } : {};
  return {
    document: { draft: id, decision: "approve", name, status, ...usedBy },
    text: toPrintable(`${name} is ${status} now${version}.${renderNext(answer)}${noteUsers(usedBy)}`),
  };
}

function renderNext(answer: ForgeAnswer | SkillAnswer): string {
  if (answer.status !== "live") return "";
  const calls = renderCalls(answer, "inputSchema" in answer ? answer : undefined);
  return ` Next:\n${calls.map((line) => `  ${line}`).join("\n")}`;
}

/** A line for each draft that the tool at `address`, or its skill, waits for: what it asks for, and how to approve it. */
export async function describeWaiting(context: CliContext, address: string): Promise<readonly string[]> {
  const [name] = address.split(/[/@]/u, 1);
  return (await listWaitingDrafts(context)).flatMap(({ waiting }) => {
    const { id, makes } = waiting;
    if (waiting.name !== name || (makes === "skill") !== address.includes("/")) return [];
    const cure = `Read it: kitbag approvals show ${id}; then approve it: kitbag approvals approve ${id}`;
    return [`The ${makes} ${name} waits for approval: it ${describeAsking(waiting)}. ${cure}`];
  });
}

/** Shows a draft that waits: all of it, or what is different from the version that it is an edit of. */
export async function showDraft({ waiting, draft }: WaitingDraft, invocation: Invocation): Promise<Answer> {
  const before = await readBefore(waiting, invocation);
  const changes = before === undefined ? undefined : await compare(before, draft);
  const { terminal } = invocation;
  const text = [
    [renderFacts(toFacts(waiting, draft)), ...renderOpened(waiting.asks, terminal, invocation.cwd)].join("\n"),
    changes === undefined ? renderAll(draft, terminal) : renderPatch(changes, terminal),
    `To decide: kitbag approvals approve ${waiting.id}, or kitbag approvals deny ${waiting.id}`,
  ].join("\n\n");
  return { document: { ...waiting, draft, ...(changes !== undefined && { changes }) }, text };
}

function toFacts(waiting: WaitingTool, draft: ToolDraft | SkillDraft): readonly (readonly [string, string])[] {
  const { makes, name, from, author = "", at } = waiting;
  const permissions = isSkillDraft(draft) ? "" : describePermissions(draft.permissions ?? {});
  return [
    [makes, name],
    [describeAsking(waiting).startsWith("asks for") ? "asks for" : "asks", describeWish(waiting)],
    ["may then use", permissions],
    ["made from", from ?? ""],
    ["asked by", waiting.owner ?? author],
    ["waits since", showTime(at)],
  ];
}

/** The version that a draft is an edit of; none if it is new, or that version cannot be read. */
async function readBefore(
  { makes, name, from }: WaitingTool,
  invocation: Invocation,
): Promise<ToolDraft | SkillDraft | undefined> {
  if (from === undefined) return undefined;
  const { withForge } = await import("./with-forge.ts");
  try {
    return await withForge(invocation, async (forge) =>
      makes === "skill" ? forge.readSkillDraft(name, from) : forge.readDraft(name, from),
    );
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    return undefined;
  }
}

async function compare(before: ToolDraft | SkillDraft, after: ToolDraft | SkillDraft): Promise<string> {
  const [old, fresh] = [toDraftTexts(before), toDraftTexts(after)];
  const patches: string[] = [];
  for (const path of new Set([...old.keys(), ...fresh.keys()])) {
    const [was = "", is = ""] = [old.get(path), fresh.get(path)];
    if (was === is) continue;
    // What takes too long to compare is shown as it is.
    patches.push((await toPatch(path, was, is)) ?? `+++ ${path}\n${is}`);
  }
  return patches.join("\n");
}

function renderAll(draft: ToolDraft | SkillDraft, { style }: Invocation["terminal"]): string {
  const parts = [...toDraftTexts(draft)].map(
    ([path, text]) => `${style("bold", toPrintable(`+++ ${path}`))}\n${toPrintable(text).replace(/\n?$/u, "\n")}`,
  );
  return parts.join("\n");
}

/** All that a draft consists of, as texts by path: its code and files, and what it says about itself as JSON. */
function toDraftTexts(draft: ToolDraft | SkillDraft): ReadonlyMap<string, string> {
  return new Map(isSkillDraft(draft) ? toSkillTexts(draft) : toToolTexts(draft));
}

type Texts = readonly (readonly [path: string, text: string])[];

function toToolTexts(draft: ToolDraft): Texts {
  if ("steps" in draft) return [["draft.json", showJson(draft)]];
  const { code, files = {}, ...head } = draft;
  return [["draft.json", showJson(head)], [toPlaces(draft).codeFile, code], ...Object.entries(files)];
}

function toSkillTexts({ instructions, tools = [], files = {}, ...head }: SkillDraft): Texts {
  const ofTool = (tool: CodeDraft): Texts =>
    toToolTexts(tool).map(([path, text]) => [`tools/${tool.name}/${path}`, text]);
  return [
    ["draft.json", showJson(head)],
    ["SKILL.md", instructions],
    ...tools.flatMap(ofTool),
    ...Object.entries(files),
  ];
}

function showJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
