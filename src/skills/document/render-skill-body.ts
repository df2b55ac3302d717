import type { Diagnostic } from "../../core/diagnostics.ts";
import { quote } from "../../core/errors.ts";
import type { CommandAnswer } from "../../core/skill.ts";
import { findShellCommands, type ShellCommand } from "./find-shell-commands.ts";
import { createPositions } from "./positions.ts";
import type { SkillDocument } from "./skill-document.ts";
import { splitArguments } from "./split-arguments.ts";
import { createSubstitution, type Substitution } from "./substitution.ts";

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
  /** What became of a command; not set if it was not run. @default not run */
  readonly shell?: (command: ShellCommand, index: number) => CommandAnswer | undefined;
  /** Changes the text around the outputs of commands, piece by piece. @default it stays */
  readonly prose?: (text: string) => string;
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
 * Contract: one pass, so that a value and the output of a command are never expanded again; runs nothing: a command in the text
 * is replaced by what `shell` answers, or by a note that it was not run.
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
  const { arguments: typed = "", directory, files = [], shell, prose = (text: string) => text } = options;
  const substitution = toSubstitution(document, options);
  const missed: MissedCommand[] = [];
  const pieces: string[] = [];
  let from = 0;
  for (const [index, command] of findShellCommands(document.body).entries()) {
    const answer = shell?.(command, index);
    pieces.push(prose(substitution.apply(document.body.slice(from, command.offset))), renderAnswer(command, answer));
    // An argument that a command took needs no other place.
    if (answer !== undefined && answer.status !== "not-run") substitution.apply(command.command);
    if (answer?.status !== "ran") missed.push({ command, answer });
    from = command.end;
  }
  const rest = substitution.apply(document.body.slice(from));
  const isUnused = typed.trim() !== "" && !substitution.used;
  pieces.push(prose(isUnused ? `${rest.trimEnd()}\n\nARGUMENTS: ${typed}` : rest));
  const diagnostics = describeMissed(missed, document);
  if (substitution.full) diagnostics.push(tooLarge(document));
  return { text: frame(pieces.join(""), directory, files), diagnostics };
}

function toSubstitution({ arguments: names }: SkillDocument, options: RenderOptions): Substitution {
  const { arguments: typed = "", directory, variables } = options;
  const own = directory === undefined ? {} : { CLAUDE_SKILL_DIR: directory, baseDir: directory };
  return createSubstitution({ typed, words: splitArguments(typed), names, variables: { ...variables, ...own } });
}

/** A command that printed nothing that could be used. */
interface MissedCommand {
  readonly command: ShellCommand;
  readonly answer: Exclude<CommandAnswer, { readonly status: "ran" }> | undefined;
}

function renderAnswer({ command, form }: ShellCommand, answer: CommandAnswer | undefined): string {
  if (answer?.status === "ran") return answer.output;
  const what = answer?.status === "failed" ? "failed" : "not run";
  const why = answer === undefined ? "" : ` (${answer.reason}${curesOf(answer)})`;
  return form === "line" ? `[${what}: \`${command}\`${why}]` : `[${what}:${why}]\n\`\`\`\n${command}\n\`\`\``;
}

function curesOf(answer: Exclude<CommandAnswer, { readonly status: "ran" }>): string {
  return answer.status === "not-run" && answer.cure !== undefined ? `; ${answer.cure}` : "";
}

/** How many commands are reported one by one. */
const mostCommands = 20;

function describeMissed(commands: readonly MissedCommand[], { file, body, bodyLine }: SkillDocument): Diagnostic[] {
  const positions = createPositions(body);
  return commands.slice(0, mostCommands).map(({ command: { command, offset }, answer }, index): Diagnostic => {
    const { line, column } = positions.at(offset);
    const rest = index + 1 === mostCommands ? commands.length - mostCommands : 0;
    const more = rest > 0 ? ` (nor ${rest} more)` : "";
    const place = { file, line: line + bodyLine - 1, column };
    if (answer?.status === "failed") {
      const message = `The command ${quote(command)} failed: ${answer.reason}${more}`;
      return { severity: "warning", code: "shell-failed", message, ...place };
    }
    const { reason, cure } = answer ?? notGranted;
    const message = `The command ${quote(command)} was not run: ${reason}${more}`;
    return { severity: "warning", code: "shell-not-run", message, ...place, ...(cure !== undefined && { cure }) };
  });
}

const notGranted = {
  reason: "it is not granted",
  cure: "Let the instructions ask for a tool instead, or grant the command",
} as const;

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
