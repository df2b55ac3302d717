import { join } from "node:path";

import { canBeProject, findProject, ownFolder } from "./find-project.ts";

/** A file that a store is kept in. */
export interface StoreFile {
  readonly file: string;
  /** The person named it; else it is where it is because of the folder that he works in. */
  readonly isNamed: boolean;
  /** The `.kitbag` of the project that it is in. */
  readonly folder?: string;
}

const fileName = "kitbag.db";

/** What else tells where a store is. */
export interface StoreFileOptions {
  /** Tools may be made in the folder, which gives it a `.kitbag`: the store is there from the beginning. @default false */
  readonly makesTools?: boolean | undefined;
}

/** Where the store is if nobody says where: in the project, else in the person's own folder. Nothing is made. */
export function findStoreFile(cwd: string, home: string, { makesTools = false }: StoreFileOptions = {}): StoreFile {
  const root = makesTools && canBeProject(cwd) ? cwd : findProject(cwd).root;
  if (root === undefined) return { file: join(home, fileName), isNamed: false };
  const folder = join(root, ownFolder);
  return { file: join(folder, fileName), isNamed: false, folder };
}
