import type { ForgeAnswer, SkillAnswer, WaitingTool } from "../../forge/forge-interface.ts";
import { describeWish } from "../../forge/permissions-beyond.ts";
import type { Answer, CliContext, Invocation } from "../cli-command.ts";
import { toPrintable } from "../printable.ts";
import { renderTable } from "../render-table.ts";
import { noteUsers } from "./note-users.ts";
import { failedAnswer } from "../report-error.ts";
import { hasForged } from "./load-forged.ts";

/** Drafts of tools and skills that wait for a person, because they want more than the policy grants. */
export async function listWaitingDrafts(context: CliContext): Promise<readonly WaitingTool[]> {
  if (!hasForged(context)) return [];
  const { createToolsFolder } = await import("../../forge/disk/tools-folder.ts");
  const { createWaitingDrafts } = await import("../../forge/waiting-drafts.ts");
  return createWaitingDrafts(createToolsFolder(context.cwd)).list();
}

/** The drafts as a table: what each wants is what the person decides about. */
export function renderDrafts(drafts: readonly WaitingTool[], { terminal }: Pick<Invocation, "terminal">): string {
  const rows = drafts.map((draft) => [
    draft.id,
    `${draft.makes} ${draft.name}`,
    describeWish(draft),
    draft.description,
  ]);
  return renderTable(["DRAFT", "MAKES", "ASKS FOR", "DESCRIPTION"], rows, terminal);
}

/** Approves or denies the draft whose id begins with `given`; nothing if none does. */
export async function decideDraft(
  invocation: Invocation,
  given: string,
  decision: "approve" | "deny",
): Promise<Answer | undefined> {
  const fit = (await listWaitingDrafts(invocation)).filter(({ id }) => given.length >= 4 && id.startsWith(given));
  const [draft, ...others] = fit;
  if (draft === undefined || others.length > 0) return undefined;
  const { withForge } = await import("./with-forge.ts");
  return withForge(invocation, async (forge) => {
    if (decision === "deny") {
      await forge.deny(draft.id);
      return { document: { draft: draft.id, decision }, text: toPrintable(`Denied ${draft.name}.`) };
    }
    return toAnswer(await forge.approve(draft.id), draft);
  });
}

function toAnswer(answer: ForgeAnswer | SkillAnswer, { id }: WaitingTool): Answer {
  if (answer.status === "refused") return failedAnswer(answer.error);
  const { name, status } = answer;
  const version = "version" in answer ? `, at ${answer.version}` : "";
  const usedBy = "usedBy" in answer ? { usedBy: answer.usedBy } : {};
  return {
    document: { draft: id, decision: "approve", name, status, ...usedBy },
    text: toPrintable(`${name} is ${status} now${version}.${noteUsers(usedBy)}`),
  };
}
