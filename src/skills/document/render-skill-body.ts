import type { Diagnostic } from "../../core/diagnostics.ts";
import { quote } from "../../core/errors.ts";
import { findShellCommands, type ShellCommand } from "./find-shell-commands.ts";
import { createPositions } from "./positions.ts";
import type { SkillDocument } from "./skill-document.ts";
import { splitArguments } from "./split-arguments.ts";
import { createSubstitution } from "./substitution.ts";

/** What the instructions of a skill are rendered with. */
export interface RenderOptions {
  /** As typed, in one text. @default none */
  readonly arguments?: string;
  /** The absolute path of the skill's folder. @default none: placeholders for it stay */
  readonly directory?: string;
  /** The skill's other files, relative to its folder. @default none are listed */
  readonly files?: readonly string[];
  /** Values for other `${…}` placeholders, such as `CLAUDE_PROJECT_DIR`. @default none: they stay */
  readonly variables?: Readonly<Record<string, string>>;
  /** The output of a command that was granted and has been run, or nothing. @default no command was run */
  readonly shell?: (command: ShellCommand) => string | undefined;
}

/** Instructions that a model can read. */
export interface RenderedBody {
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Renders the instructions of a skill: its folder, the text with arguments and paths filled in, its files.
 *
 * Placeholders are `$ARGUMENTS`, `$ARGUMENTS[0]` or `$0` (the first), `$name` for a declared argument, `${CLAUDE_SKILL_DIR}`,
 * `{baseDir}`; `\$` keeps one from being filled in. Arguments that no placeholder takes are appended.
 *
 * Contract: one pass, so that a value is never expanded again; runs nothing: a command in the text is replaced by what `shell`
 * answers, or by a note that it was not run.
 *
 * @example
 * ```ts
 * import { parseSkillDocument, renderSkillBody } from "kitbag/skills";
 *
 * const { document } = parseSkillDocument("---\nname: fix\ndescription: Fixes\n---\nFix issue $0 in {baseDir}.\n");
 * const rendered = document && renderSkillBody(document, { arguments: "42", directory: "/skills/fix" });
 * console.assert(rendered?.text.includes("Fix issue 42 in /skills/fix."));
 * ```
 */
export function renderSkillBody(document: SkillDocument, options: RenderOptions = {}): RenderedBody {
  const { arguments: typed = "", directory, files = [], shell } = options;
  const substitution = createSubstitution({
    typed,
    words: splitArguments(typed),
    names: document.arguments,
    variables: {
      ...options.variables,
      ...(directory !== undefined && { CLAUDE_SKILL_DIR: directory, baseDir: directory }),
    },
  });
  const notRun: ShellCommand[] = [];
  let text = "";
  let from = 0;
  for (const command of findShellCommands(document.body)) {
    const output = shell?.(command);
    text += substitution.apply(document.body.slice(from, command.offset)) + (output ?? describeNotRun(command));
    if (output === undefined) notRun.push(command);
    from = command.end;
  }
  text += substitution.apply(document.body.slice(from));
  const diagnostics = describeCommands(notRun, document);
  if (substitution.full) diagnostics.push(tooLarge(document));
  if (typed.trim() !== "" && !substitution.used) text = `${text.trimEnd()}\n\nARGUMENTS: ${typed}`;
  return { text: frame(text, directory, files), diagnostics };
}

function describeNotRun({ command, form }: ShellCommand): string {
  return form === "line" ? `[not run: \`${command}\`]` : `[not run:]\n\`\`\`\n${command}\n\`\`\``;
}

/** How many commands are reported one by one. */
const mostCommands = 20;

function describeCommands(commands: readonly ShellCommand[], { file, body, bodyLine }: SkillDocument): Diagnostic[] {
  const positions = createPositions(body);
  return commands.slice(0, mostCommands).map(({ command, offset }, index): Diagnostic => {
    const { line, column } = positions.at(offset);
    const rest = index + 1 === mostCommands ? commands.length - mostCommands : 0;
    return {
      severity: "warning",
      code: "shell-not-run",
      message: `The command ${quote(command)} was not run: nobody granted it${rest > 0 ? ` (nor ${rest} more)` : ""}`,
      file,
      line: line + bodyLine - 1,
      column,
      cure: "Let the instructions ask for a tool instead, or grant the command",
    };
  });
}

function tooLarge({ file, bodyLine }: SkillDocument): Diagnostic {
  return {
    severity: "warning",
    code: "arguments-too-large",
    message: "The arguments are too large for the number of placeholders; some were not filled in",
    file,
    line: bodyLine,
    column: 1,
    cure: "Give shorter arguments, or name a file",
  };
}

/** How many files are listed; the rest is counted. */
const mostFiles = 50;

function frame(text: string, directory: string | undefined, files: readonly string[]): string {
  const parts = directory === undefined ? [] : [`Base directory for this skill: ${directory}`];
  parts.push(text.trim());
  if (files.length > 0) parts.push(renderFiles(files));
  return `${parts.join("\n\n")}\n`;
}

function renderFiles(files: readonly string[]): string {
  const lines = files.slice(0, mostFiles).map((file) => `  <file>${escapeXml(file)}</file>`);
  if (files.length > mostFiles) lines.push(`  <!-- and ${files.length - mostFiles} more -->`);
  return ["<skill_resources>", ...lines, "</skill_resources>"].join("\n");
}

const unseen = /[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/gu;

/** A file may be called anything; it must not look like another line or another element. */
function escapeXml(text: string): string {
  return text
    .replaceAll(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
