import { cpSync, existsSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A working directory for tools that are tried. What is in the project stays as it is. */
export interface Scratch {
  readonly directory: string;
  /** Tells whether a skill brings the files that its examples need. */
  hasFiles(skillFolder: string | undefined): boolean;
  /** Empties it, and puts the files in that the examples of a skill need. */
  fill(skillFolder: string | undefined): void;
  remove(): void;
}

/** Where a skill keeps the files that its examples need, as they lie in a working directory. */
const exampleFiles = "evals/files";

/** What becomes `.git` there: no repository can hold a folder of that name. */
const gitFolder = "dot-git";

/** Makes an empty working directory. */
export function createScratch(): Scratch {
  const directory = realpathSync.native(mkdtempSync(join(tmpdir(), "kitbag-test-")));
  const findFiles = (skillFolder: string | undefined): string | undefined => {
    const folder = skillFolder === undefined ? undefined : join(skillFolder, exampleFiles);
    return folder !== undefined && existsSync(folder) ? folder : undefined;
  };
  return {
    directory,
    hasFiles: (skillFolder) => findFiles(skillFolder) !== undefined,
    fill(skillFolder) {
      // The directory itself stays: sandboxes that wait for a call have it mounted.
      for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true });
      const files = findFiles(skillFolder);
      if (files === undefined) return;
      cpSync(files, directory, { recursive: true });
      const repository = join(directory, gitFolder);
      if (existsSync(repository)) renameSync(repository, join(directory, ".git"));
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
