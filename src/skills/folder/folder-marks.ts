import { lstatSync } from "node:fs";

import type { SkillFile } from "../../core/skill.ts";
import { toMark, type Mark } from "../../platform/read-file.ts";

/** The marks of a folder and of everything in it, taken before it was read. */
export interface FolderMarks {
  /** When they were taken, in milliseconds since 1970. */
  readonly takenAt: number;
  /** By path; the folder itself is "". */
  readonly items: readonly (readonly [path: string, mark: Mark])[];
}

/** A folder that was read, so that it need not be read again as long as its marks are the same. */
export interface MarkedFolder {
  readonly files: readonly SkillFile[];
  readonly digest: string;
  readonly marks: FolderMarks;
  /** It is a skill and no part of a plugin: as long as its marks are the same, there are no others in it. */
  readonly isPlain?: true;
}

/** Clocks of file systems are coarse: two changes can have the same time. */
const coarseMs = 2000;

/**
 * Tells whether nothing in a folder, by its real path, was written since its marks were taken. Only the administrator can
 * write to a file and keep its mark. A runner of what is in the folder compares the bytes all the same.
 */
export function hasSameMarks(directory: string, { takenAt, items }: FolderMarks): boolean {
  return items.every(([path, mark]) => {
    const isOld = mark[4] <= takenAt - coarseMs;
    return isOld && isSameMark(markOf(path === "" ? directory : `${directory}/${path}`), mark);
  });
}

function markOf(path: string): Mark | undefined {
  try {
    const status = lstatSync(path);
    return status.isFile() || status.isDirectory() ? toMark(status) : undefined;
  } catch {
    return undefined;
  }
}

function isSameMark(one: Mark | undefined, other: Mark): boolean {
  return one !== undefined && one.every((part, index) => part === other[index]);
}
