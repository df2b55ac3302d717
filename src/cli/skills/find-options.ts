import { homedir } from "node:os";
import { delimiter, isAbsolute, resolve } from "node:path";

import type { FindOptions } from "../../skills/discovery/find-skills.ts";
import type { CliContext } from "../cli-command.ts";

/** Where a command looks for skills: in the folders that the person named, in those of `KITBAG_SKILLS`, in the usual places. */
export function toFindOptions(context: CliContext, directories: readonly string[]): FindOptions {
  const { cwd } = context;
  const home = homedir();
  return {
    directories: [...directories, ...listedFolders(context)].map((directory) => resolve(cwd, directory)),
    workingDirectory: cwd,
    ...(isAbsolute(home) && { homeDirectory: home }),
  };
}

/** The folders of `KITBAG_SKILLS` that are another place in every project: what they hold was not chosen by the person. */
export function relativeFolders(context: CliContext): string[] {
  return listedFolders(context)
    .filter((path) => !isAbsolute(path))
    .map((path) => resolve(context.cwd, path));
}

function listedFolders({ env }: CliContext): string[] {
  return (env["KITBAG_SKILLS"] ?? "").split(delimiter).filter((path) => path !== "");
}
