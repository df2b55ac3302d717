import { posix } from "node:path";

import { quote } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import type { SkillCommand } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import { findShellCommands, type ShellCommand } from "../document/find-shell-commands.ts";
import { parseCommand, type Placeholders } from "../document/parse-command.ts";
import type { SkillDocument } from "../document/skill-document.ts";
import { splitArguments } from "../document/split-arguments.ts";
import { createSubstitution } from "../document/substitution.ts";
import type { ScriptInterface } from "../scripts/script-interface.ts";
import type { ToolFrame } from "./to-tools.ts";

/** How many commands of one text are run. */
const maxCommands = 10;
/** How long one may take. */
const limitMs = 10_000;
/** Where the skill's folder is for what it runs. */
const folderInside = "/skill";

/** What the commands of a skill's text are made of. */
export interface CommandSources {
  readonly document: SkillDocument;
  readonly frame: ToolFrame;
  readonly scripts: readonly ScriptInterface[];
}

/**
 * Reads the commands of a skill's text for one use of it: each a program with its words, or why it is not run. The permission
 * `run` must list the program, also one that every sandbox has, and also a script of the skill: by its path, as `./scripts/x.sh`.
 *
 * Contract: runs nothing. The same program is the same tool each time.
 */
export function createCommands({ document, frame, scripts }: CommandSources): (argumentText: string) => SkillCommand[] {
  let found: readonly ShellCommand[] | undefined;
  const tools = new Map<string, Tool>();

  function toTool(program: Program): Tool {
    const known = tools.get(program.name) ?? createCommandTool(program, frame, scripts);
    tools.set(program.name, known);
    return known;
  }

  function toCommand({ command }: ShellCommand, placeholders: Placeholders): SkillCommand {
    const parsed = parseCommand(command, placeholders);
    if (!parsed.ok) return refuse(parsed.reason, "put it into a script of the skill, and let the command name that");
    const [name, ...argv] = parsed.words;
    const program = toProgram(name);
    if (!isGranted(program, frame.permissions.run ?? [])) {
      const shown = program.script === undefined ? name : `./${program.script}`;
      const reason = `the skill's permission run does not list ${quote(shown)}`;
      return refuse(
        reason,
        `add it to [permissions] in kitbag.toml, if the skill shall run it: run = [${quote(shown)}]`,
      );
    }
    if (program.script !== undefined && !frame.files.has(program.script)) {
      return refuse(`there is no ${quote(program.script)} in the skill's folder`, "name one of its files");
    }
    return { ok: true, tool: toTool(program), input: { argv } };
  }

  return (argumentText) => {
    // Most texts are never used, so they are not searched before.
    found ??= findShellCommands(document.body);
    const placeholders = createSubstitution({
      typed: argumentText,
      words: splitArguments(argumentText),
      names: document.arguments,
      variables: { CLAUDE_SKILL_DIR: folderInside, baseDir: folderInside },
    });
    return found.map((command, index) => (index < maxCommands ? toCommand(command, placeholders) : tooMany));
  };
}

const tooMany = refuse(`only the first ${maxCommands} commands of a text are run`, "put them into one script");

function refuse(reason: string, cure: string): SkillCommand {
  return { ok: false, answer: { status: "not-run", reason, cure } };
}

/** What a command starts. */
interface Program {
  /** As it is called, one name for one program. */
  readonly name: string;
  /** The path of a script of the skill. */
  readonly script?: string;
}

/** A path that is not absolute leads into the skill's folder, and so does one that was filled in for it. */
function toProgram(word: string): Program {
  const isInside = word.startsWith(`${folderInside}/`);
  if (!isInside && (word.startsWith("/") || !word.includes("/"))) return { name: word };
  const script = posix.normalize(isInside ? word.slice(folderInside.length + 1) : word);
  return { name: `./${script}`, script };
}

function isGranted({ name }: Program, run: readonly string[]): boolean {
  return run.some((granted) => granted === "*" || toProgram(granted).name === name);
}

function createCommandTool({ name, script }: Program, frame: ToolFrame, scripts: readonly ScriptInterface[]): Tool {
  const { skill, directory, folder, permissions, dependencies, files } = frame;
  const read = scripts.find(({ path }) => path === script);
  const code: ScriptCode = {
    kind: "script",
    directory,
    folder,
    path: script ?? "",
    digest: files.get(script ?? "")?.digest ?? "",
    interpreter: script === undefined ? [name] : (read?.interpreter ?? []),
    environment: read?.environment.map((variable) => variable.name) ?? [],
    ...(dependencies !== undefined && { dependencies }),
    toCommand: ({ argv }: JsonObject) => ({ argv: argv as readonly string[], env: {} }),
    needsSandbox: true,
  };
  return Object.freeze({
    name: `!${name}`,
    description: `Runs ${name} for the text of the skill ${skill}`,
    inputSchema,
    annotations: Object.freeze({}),
    permissions,
    examples: none,
    inject: none,
    needsApproval: false,
    limits: Object.freeze({ limitMs }),
    code,
  });
}

const none: readonly never[] = Object.freeze([]);
const inputSchema = Object.freeze({
  type: "object",
  properties: Object.freeze({
    argv: Object.freeze({ type: "array", items: Object.freeze({ type: "string" }), description: "Its arguments" }),
  }),
  required: Object.freeze(["argv"]),
  additionalProperties: false,
});
