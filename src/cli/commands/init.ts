import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { describeFileError } from "../../platform/files.ts";
import { type CliCommand, usageError } from "../cli-command.ts";
import { configNames } from "../config/find-config.ts";
import { toPrintable } from "../printable.ts";
import { toShellWord, toShownPath } from "../render.ts";
import { configContent, skillFiles, skillName } from "../templates/new-project.ts";
import { checkLink, trustWritten, writeFolder } from "../templates/write-project.ts";

/** `kitbag init`: a project to start from. */
export const initCommand: CliCommand = {
  examples: [
    ["kitbag init", "a configuration with a tool, and a skill with a script and a test, in this folder"],
    ["kitbag init my-project", "in a folder of its own"],
  ],
  define(command) {
    command.argument("[dir]", "the folder; made if it is not there. This folder unless set");
  },
  async run(invocation) {
    const { args, cwd } = invocation;
    const folder = resolve(cwd, args[0] ?? ".");
    const config = { path: join(folder, "kitbag.config.ts"), content: configContent };
    const skill = { folder: join(folder, ".kitbag/skills", skillName), files: skillFiles };
    refuseTaken(folder, skill.folder);
    checkLink(folder, skill.folder);
    writeFolder(skill.folder, skill.files);
    writeConfig(config, () => rmSync(skill.folder, { recursive: true, force: true }));
    const trusted = await trustWritten({ skill, config }, invocation);
    const files = [config.path, ...skill.files.map(({ path }) => join(skill.folder, path))];
    const shown = files.map((path) => toShownPath(path, cwd));
    const next = [
      ...(args[0] === undefined ? [] : [`cd ${toShellWord(args[0])}`]),
      ...(trusted ? [] : ["kitbag trust ."]),
      "kitbag list",
      "kitbag call greet --name Ada",
      `kitbag call ${skillName}/count-words --text "to be or not to be"`,
      "kitbag test",
      `kitbag dev ${skillName}`,
      "kitbag chat",
    ];
    const text = ["Wrote:", ...shown.map((path) => `  ${path}`), "", "Next:", ...next.map((line) => `  ${line}`)];
    return { document: { path: folder, files: shown, trusted }, text: toPrintable(text.join("\n")) };
  },
};

/** Looks before anything is written: a project is made whole or not at all. */
function refuseTaken(folder: string, skill: string): void {
  const taken = [...configNames.map((name) => join(folder, name)), skill].find((path) => existsSync(path));
  if (taken === undefined) return;
  throw usageError(
    `Cannot start a project in ${folder}: ${toShownPath(taken, folder)} is already there; name another folder: kitbag init <dir>`,
  );
}

function writeConfig({ path, content }: { readonly path: string; readonly content: string }, undo: () => void): void {
  try {
    // Fails if another program was faster, or if the name is a link.
    writeFileSync(path, content, { flag: "wx" });
  } catch (cause) {
    undo();
    throw usageError(`Cannot write ${path}: ${describeFileError(cause)}`);
  }
}
