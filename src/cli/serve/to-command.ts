import { dirname, sep } from "node:path";

import { isInside } from "../../skills/folder/is-inside.ts";

/** What is known about how Kitbag was started. */
export interface OwnProgram {
  /** The absolute path of Node. */
  readonly node: string;
  /** The absolute path of the file that is started as `kitbag`. */
  readonly main: string;
  readonly isSource: boolean;
  readonly platform: string;
}

/** A program and its words. */
export interface ProgramLine {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * The line that starts Kitbag from any folder: `npx` where it is installed in the project, so that the line survives an update,
 * and else Node with the file itself. `npx` is told to fetch nothing: what has this name elsewhere is not this program.
 */
export function toCommand({ node, main, isSource, platform }: OwnProgram, project: string): ProgramLine {
  const installed = findInstallation(main);
  // On Windows npx is no program but a script, which many clients cannot start.
  if (installed !== undefined && platform !== "win32" && isInside(project, installed)) {
    return { command: "npx", args: ["--no", "--prefix", installed, "kitbag"] };
  }
  return { command: node, args: [...(isSource ? ["--conditions=@kitbag/source"] : []), main] };
}

/** The folder in whose `node_modules` Kitbag is. */
function findInstallation(main: string): string | undefined {
  const end = main.lastIndexOf(`${sep}node_modules${sep}kitbag${sep}`);
  return end === -1 ? undefined : dirname(`${main.slice(0, end)}${sep}x`);
}
