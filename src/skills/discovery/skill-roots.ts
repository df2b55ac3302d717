import { resolve } from "node:path";

import { homeFolders, projectFolders, type FindOptions } from "./find-skills.ts";

/** The folders that {@link findSkills} looks into, whether they are there or not: what has to be watched. */
export function skillRoots(options: FindOptions): readonly string[] {
  return [
    ...(options.directories ?? []).map((directory) => resolve(directory)),
    ...projectFolders(options.workingDirectory, options.homeDirectory),
    ...homeFolders(options.homeDirectory),
  ];
}
