import type { Diagnostic } from "../../core/diagnostics.ts";
import type { Skill } from "../../core/skill.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { toPrintable } from "../printable.ts";
import { toShownPath } from "../shown-path.ts";
import { renderDiagnostics } from "./render-diagnostics.ts";

/** Shows the text of a skill as a model gets it. Commands in it are run if they are granted, so the workspace needs runtimes. */
export async function showText(workspace: Workspace, skill: Skill, invocation: Invocation): Promise<Answer> {
  const { args, cwd, json, terminal } = invocation;
  const { name, folder } = skill;
  const diagnostics: Diagnostic[] = [];
  const text = await workspace.invokeSkill(name, toArgumentText(args.slice(1)), {
    onDiagnostic: (diagnostic) => void diagnostics.push(diagnostic),
  });
  if (!json && diagnostics.length > 0) {
    const path = folder === undefined ? name : toShownPath(folder.directory, cwd);
    terminal.note(`${renderDiagnostics(diagnostics, path, terminal)}\n`);
  }
  return { document: { name, text, diagnostics }, text: toPrintable(text.trimEnd()) };
}

/** One word is what a person would type behind the name of the skill; several are kept apart. */
function toArgumentText(words: readonly string[]): string {
  if (words.length === 1) return words[0] ?? "";
  return words.map((word) => (/^[\w./:@%+,=-]+$/u.test(word) ? word : quoteWord(word))).join(" ");
}

function quoteWord(word: string): string {
  return `"${word.replaceAll(/["\\$`]/gu, String.raw`\$&`)}"`;
}
