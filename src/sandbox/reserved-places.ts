import { realpathSync, renameSync, symlinkSync } from "node:fs";
import { basename, dirname, relative } from "node:path";

import { KitbagError } from "../core/errors.ts";
import { stateOf, type Reserved } from "./shields.ts";

/**
 * Looks after shielded places where nothing is yet, or a link. What is there is mounted so that no tool can change it; this cannot be,
 * so it is looked at before and after each call.
 */
export interface ReservedPlaces {
  /**
   * Takes note of such places before a call, and answers with what to do after it: puts aside what has appeared there, and what
   * `findPlanted` finds.
   *
   * @throws {KitbagError} `permission-refused` from what it answers with, if something has appeared.
   */
  watch(tool: string, reserved: readonly Reserved[], findPlanted?: () => readonly string[]): () => void;
}

/** Makes the one for all calls that share a project. */
export function createReservedPlaces(directory: string): ReservedPlaces {
  /** When something was put aside, by its path: whoever could have made it then is told. */
  const putAside = new Map<string, number>();

  return {
    watch(tool, reserved, findPlanted = () => []) {
      const startedAt = performance.now();
      const watched = reserved.map((place) => ({ ...place, parent: toReal(dirname(place.path)) }));
      return () => {
        const changed = watched.filter(({ path, link }) => stateOf(path) !== link);
        for (const place of changed) {
          putAside.set(place.path, performance.now());
          restore(place);
        }
        const planted = findPlanted();
        for (const path of planted) restore({ path, parent: toReal(dirname(path)) });
        const made = watched.find(({ path }) => (putAside.get(path) ?? 0) > startedAt)?.path ?? planted[0];
        if (made !== undefined) throw refuse(tool, relative(directory, made) || basename(made));
      };
    },
  };
}

interface Place extends Reserved {
  /** What its directory really was before the call. */
  readonly parent: string | undefined;
}

function restore({ path, link, parent }: Place): void {
  // A tool that put a link in the place of the directory must not choose what is moved.
  if (parent === undefined || toReal(dirname(path)) !== parent) return;
  if (stateOf(path) !== undefined) renameSync(path, nameAside(path));
  if (link !== undefined) symlinkSync(link, path);
}

function nameAside(path: string): string {
  for (let count = 1; ; count++) {
    const name = `${path}.put-aside-${count}`;
    if (stateOf(name) === undefined) return name;
  }
}

function refuse(tool: string, name: string): KitbagError {
  return new KitbagError("permission-refused", {
    tool,
    permission: `write = ${JSON.stringify(name)}`,
    reason: `it is shielded, and the tool made it; it was put aside as ${name}.put-aside-1 (or a higher number): look at it, then delete it, or name exactly this path in the permission`,
  });
}

function toReal(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
