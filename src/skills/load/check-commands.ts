import type { Diagnostic } from "../../core/diagnostics.ts";
import { quote } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import { findShellCommands } from "../document/find-shell-commands.ts";
import { createPositions } from "../document/positions.ts";
import type { SkillDocument } from "../document/skill-document.ts";

/** Arguments for every placeholder that a command can have. */
const anyArguments = "x ".repeat(1000);
/** How many commands are reported. */
const mostReported = 20;

/** Says which commands in the text of a skill are not run, whatever its arguments are. Runs nothing. */
export function checkCommands(document: SkillDocument | undefined, commands: Skill["commands"]): Diagnostic[] {
  // Most texts have none; looking for them costs more than this.
  if (document === undefined || !/!`|[`~][ \t]*!/u.test(document.body)) return [];
  const positions = createPositions(document.body);
  const found = findShellCommands(document.body);
  const refused = (commands?.(anyArguments) ?? []).flatMap((command, index) => {
    const at = found[index];
    return command.ok || at === undefined ? [] : [{ ...at, ...command.answer }];
  });
  return refused.slice(0, mostReported).map(({ command, offset, reason, cure }): Diagnostic => {
    const { line, column } = positions.at(offset);
    const message = `The command ${quote(command)} is not run: ${reason}`;
    const place = { file: document.file, line: line + document.bodyLine - 1, column };
    return { severity: "info", code: "shell-not-run", message, ...place, ...(cure !== undefined && { cure }) };
  });
}
