import type { ForgeAnswer, SkillAnswer, WaitingTool } from "../../forge/forge-interface.ts";
import { describeAsking, describeWish } from "../../forge/permissions-beyond.ts";
import type { WaitingDraft } from "../../forge/waiting-drafts.ts";
import type { Answer, CliContext, Invocation } from "../cli-command.ts";
import { toPrintable } from "../printable.ts";
import { renderTable } from "../render-table.ts";
import { noteUsers } from "./note-users.ts";
import { renderCalls } from "./render-forged.ts";
import { failedAnswer } from "../report-error.ts";
import { hasForged } from "./load-forged.ts";

/** Drafts of tools and skills that wait for a person, because they want more than the policy grants. */
export async function listWaitingDrafts(context: CliContext): Promise<readonly WaitingDraft[]> {
  if (!hasForged(context)) return [];
  const { createToolsFolder } = await import("../../forge/disk/tools-folder.ts");
  const { createWaitingDrafts } = await import("../../forge/waiting-drafts.ts");
  const drafts = createWaitingDrafts(createToolsFolder(context.cwd));
  return drafts.list().map(({ id }) => drafts.get(id));
}

/** The draft whose id begins with `given`; none if there is none, or there are several. */
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
async function approveDraft(given: Invocation, draft: WaitingTool): Promise<Answer> {
  const [{ withRecords }, { openWorkshop }] = await Promise.all([
    import("../store/with-records.ts"),
    import("./open-workshop.ts"),
  ]);
  const invocation = { ...given, makesTools: true };
  return withRecords(invocation, {}, async (open) => {
    const workshop = await openWorkshop(invocation, open, { hasForge: true });
    try {
      return toAnswer(await workshop.forge.approve(draft.id), draft);
    } finally {
      await workshop.close();
    }
  });
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

/** Says on standard error that the tool at `address`, or its skill, waits for approval, and how to approve it. */
export async function noteWaiting(context: CliContext, address: string): Promise<void> {
  const [name] = address.split(/[/@]/u, 1);
  for (const { waiting } of await listWaitingDrafts(context)) {
    const { id, makes } = waiting;
    if (waiting.name !== name || (makes === "skill") !== address.includes("/")) continue;
    const asks = `it ${describeAsking(waiting)}`;
    const cure = `Read it: kitbag approvals show ${id}; then approve it: kitbag approvals approve ${id}`;
    context.terminal.note(toPrintable(`The ${makes} ${name} waits for approval: ${asks}. ${cure}\n`));
  }
}
