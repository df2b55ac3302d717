import type { RemovedSkill } from "../../forge/import/remove-skill.ts";
import type { Answer, CliCommand } from "../cli-command.ts";
import { toProject } from "../import/import-options.ts";
import { toPrintable } from "../printable.ts";

/** `kitbag remove`: takes a skill or a tool out of the project; it can be put back. */
export const removeCommand: CliCommand = {
  examples: [
    ["kitbag remove pdf", "the skill in .kitbag/skills/pdf, or the tool in .kitbag/tools/pdf"],
    ["kitbag remove pdf --undo", "put it back as it was"],
  ],
  define(command) {
    command.argument("<name>", "a skill or a tool of .kitbag");
    command.option("--undo", "put back what was removed last under this name");
  },
  async run(invocation) {
    const { removeSkill, restoreSkill } = await import("../../forge/import/remove-skill.ts");
    const [name = ""] = invocation.args;
    if (invocation.options["undo"] === true) return answer(await restoreSkill(name, toProject(invocation)), "restored");
    return answer(await removeSkill(name, toProject(invocation)), "removed");
  },
};

function answer({ name, place, kept }: RemovedSkill, status: "removed" | "restored"): Answer {
  const text =
    status === "removed"
      ? `Removed ${name}: it was in ${place}, and is kept in ${kept}. To put it back: kitbag remove ${name} --undo`
      : `Put back ${name}: it is in ${place} again, as it was.`;
  return { document: { status, name, place, kept }, text: toPrintable(text) };
}
