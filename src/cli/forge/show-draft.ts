import { isKitbagError } from "../../core/errors.ts";
import { toPlaces } from "../../forge/drafts/languages.ts";
import type { WaitingTool } from "../../forge/forge-interface.ts";
import { describeAsking, describePermissions, describeWish } from "../../forge/permissions-beyond.ts";
import { type CodeDraft, isSkillDraft, type SkillDraft, type ToolDraft } from "../../forge/drafts/tool-draft.ts";
import type { WaitingDraft } from "../../forge/waiting-drafts.ts";
import { toPatch } from "../../records/versions/diff-versions.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { toPrintable } from "../printable.ts";
import { renderFacts } from "../render-facts.ts";
import { renderPatch } from "../render-patch.ts";
import { renderOpened } from "../render-tool.ts";
import { showTime } from "../store/show-time.ts";

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
