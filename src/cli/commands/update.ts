import { addStoreOption } from "../options.ts";
import type { Store } from "../../core/store.ts";
import type { SkillUpdate } from "../../forge/import/update-skills.ts";
import type { CliCommand } from "../cli-command.ts";
import { approveImport, addImportOptions, toImportOptions, withVersions } from "../import/import-options.ts";
import { renderCandidate } from "../import/render-candidate.ts";
import { renderTable } from "../render.ts";
import type { Terminal } from "../terminal.ts";
import { untilInterrupted } from "../until-interrupted.ts";

/** `kitbag update`: imported skills, fetched again, with the difference shown before it counts. */
export const updateCommand: CliCommand = {
  examples: [
    ["kitbag update", "everything that was added to this project; you see each change and are asked"],
    ["kitbag update pdf", "one skill; the old version is kept, see kitbag versions pdf"],
    ["kitbag update --check", "only show what would change; exit code 1 if something would"],
  ],
  define(command) {
    command.argument("[name...]", "skills that were added; all of them without any");
    command.option("--check", "only show what would change");
    addImportOptions(command);
    addStoreOption(command);
  },
  async run(invocation) {
    const { updateSkills } = await import("../../forge/import/update-skills.ts");
    const { args, options, terminal } = invocation;
    const isCheck = options["check"] === true;
    const approve = isCheck ? { approve: () => false } : approveImport(invocation);
    terminal.showStatus("Fetching …");
    const update = (kept: { readonly store?: Store }): Promise<readonly SkillUpdate[]> =>
      untilInterrupted((signal) => updateSkills(args, { ...toImportOptions(invocation), ...approve, ...kept, signal }));
    const updates = isCheck ? await update({}) : await withVersions(invocation, update);
    const isWrong = updates.some(({ status }) => status === "failed" || status === "gone" || status === "refused");
    return {
      document: { updates },
      text: render(updates, terminal, isCheck || options["yes"] === true),
      exitCode: isWrong ? 1 : 0,
    };
  },
};

function render(updates: readonly SkillUpdate[], terminal: Terminal, isShown: boolean): string {
  if (updates.length === 0) return "Nothing was added to this project: see kitbag add --help.";
  const details = updates.flatMap(({ candidate }) =>
    candidate === undefined || !isShown ? [] : [renderCandidate(candidate, terminal)],
  );
  const rows = updates.map(({ name, status, source, reason, candidate }) => [
    name,
    words[status],
    source,
    reason ?? candidate?.source.commit ?? "",
  ]);
  return [...details, renderTable(["SKILL", "STATUS", "SOURCE", ""], rows, terminal)].join("\n\n");
}

const words: Readonly<Record<SkillUpdate["status"], string>> = {
  same: "up to date",
  gone: "no longer in its source",
  failed: "failed",
  refused: "not updated",
  disabled: "updated, disabled",
  enabled: "updated",
};
