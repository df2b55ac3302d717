import type { Failure } from "../../core/errors.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { toPrintable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";

/** A skill that was opened for one call, or what kept it from opening. */
export type OpenedSkill =
  | { readonly status: "ok"; close(): Promise<void> }
  | { readonly status: "failed"; readonly error: Failure };

/** Opens the skill of a tool that is closed, and says so on standard error: who names the tool wants it. */
export async function openSkillOf(
  workspace: Workspace,
  address: string,
  terminal: Pick<Terminal, "note">,
): Promise<OpenedSkill> {
  const name = findClosedSkill(workspace, address);
  if (name === undefined) return { status: "ok", close: async () => {} };
  const outcome = await workspace.activateSkill(name);
  if (outcome.status === "failed") return outcome;
  const others = outcome.opened.filter((opened) => opened !== name);
  const also = others.length === 0 ? "" : ` and ${others.join(", ")}, which it needs,`;
  terminal.note(`Opened the skill ${name}${also} for this call\n`);
  return {
    status: "ok",
    async close() {
      const closed = await workspace.deactivateSkill(name);
      const problems = closed.status === "failed" ? [closed.error] : closed.warnings;
      for (const { message } of problems) terminal.note(`${toPrintable(message)}\n`);
    },
  };
}

function findClosedSkill(workspace: Workspace, address: string): string | undefined {
  const found = workspace.getTool(address);
  if (found !== undefined) {
    return found.source === "skill" && !workspace.isToolAvailable(found.address) ? found.owner : undefined;
  }
  // What a skill takes over from another one is there only while it is open.
  const [owner = "", tool] = address.replace(/^plugin:/u, "").split("/", 2);
  return workspace.getSkill(owner)?.reuses.some(({ name }) => name === tool) === true ? owner : undefined;
}
