import { realpathSync } from "node:fs";
import { join } from "node:path";

import type { SkillReport } from "../../src/skills/load/skill-report.ts";
import { createFolderTrust } from "../../src/skills/trust/folder-trust.ts";
import { loadLock, openProjectLock } from "../../src/skills/trust/lock-file.ts";
import type { Lock } from "../../src/skills/trust/lock-format.ts";
import { loadSkills } from "../../src/workspace/skills/folder-skills.ts";
import { createFolder } from "./temporary-folder.ts";

/** A project to import into, with a home of its own. */
export interface ImportProject {
  readonly directory: string;
  readonly home: string;
  lock(): Lock;
  /** The skills that are found in it, judged as the command line does: `name trusted`. */
  listSkills(): Promise<string[]>;
  reports(): Promise<readonly SkillReport[]>;
}

/** Makes a project with these files. */
export function createImportProject(files: Readonly<Record<string, string>> = {}): ImportProject {
  const directory = realpathSync.native(createFolder({ ".git/HEAD": "", ...files }));
  const home = join(realpathSync.native(createFolder()), "home");
  const reports = async (): Promise<readonly SkillReport[]> => {
    const options = { trust: createFolderTrust({ home }), lock: openProjectLock(directory) };
    return (await loadSkills({ workingDirectory: directory, ...options })).reports;
  };
  return {
    directory,
    home,
    lock: () => loadLock(join(directory, "kitbag.lock")),
    reports,
    listSkills: async () =>
      (await reports()).map(({ name, skill }) => `${name} ${skill?.folder?.trust.status ?? "no skill"}`),
  };
}

/** The text of a SKILL.md. */
export function skillText(name: string, body = "Do it."): string {
  return `---\nname: ${name}\ndescription: Does ${name}. Use it for ${name}.\n---\n${body}\n`;
}
