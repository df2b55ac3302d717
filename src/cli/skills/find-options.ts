import { homedir } from "node:os";
import { delimiter, isAbsolute, resolve } from "node:path";

import type { FindOptions } from "../../skills/discovery/find-skills.ts";
import type { CliContext } from "../cli-command.ts";

/** Where a command looks for skills: in the folders that the person named, in those of `KITBAG_SKILLS`, in the usual places. */
export function toFindOptions({ cwd, env }: CliContext, directories: readonly string[]): FindOptions {
  const listed = (env["KITBAG_SKILLS"] ?? "").split(delimiter).filter((path) => path !== "");
  const home = homedir();
  return {
    directories: [...directories, ...listed].map((directory) => resolve(cwd, directory)),
    // The user's own folders are not those of a project, also if somebody works there.
    ...(cwd !== home && { workingDirectory: cwd }),
    ...(isAbsolute(home) && { homeDirectory: home }),
  };
}
