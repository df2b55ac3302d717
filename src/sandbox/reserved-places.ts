import { lstatSync, realpathSync, renameSync } from "node:fs";
import { basename, dirname, relative } from "node:path";

import { KitbagError } from "../core/errors.ts";
import type { Permissions } from "../core/permissions.ts";
import { findUncovered, type GrantPlaces } from "./grants.ts";

/**
 * Looks after places of Kitbag's own files where nothing is yet. What is there is mounted so that no tool can change it; what is not
 * there cannot be, so it is looked at before and after each call.
 */
export interface ReservedPlaces {
  /**
   * Takes note of what is not there before a call, and answers with what to do after it: puts aside what has appeared.
   *
   * @throws {KitbagError} `permission-refused` from what it answers with, if something has appeared.
   */
  watch(tool: string, permissions: Permissions): () => void;
}

/** Makes the one for all calls that share `places`. */
export function createReservedPlaces(places: GrantPlaces): ReservedPlaces {
  /** When something was put aside, by its path: whoever could have made it then is told. */
  const putAside = new Map<string, number>();

  return {
    watch(tool, permissions) {
      const startedAt = performance.now();
      const missing = findUncovered(permissions, places).map((path) => ({ path, parent: toReal(dirname(path)) }));
      return () => {
        const appeared = missing.filter(({ path }) => isThere(path));
        for (const place of appeared) {
          putAside.set(place.path, performance.now());
          moveAway(place);
        }
        const made = missing.find(({ path }) => (putAside.get(path) ?? 0) > startedAt);
        if (made !== undefined) throw refuse(tool, made.path, places);
      };
    },
  };
}

interface Place {
  readonly path: string;
  /** What its directory really was before the call. */
  readonly parent: string | undefined;
}

function moveAway({ path, parent }: Place): void {
  // A tool that put a link in the place of the directory must not choose what is moved.
  if (parent === undefined || toReal(dirname(path)) !== parent) return;
  renameSync(path, nameAside(path));
}

function nameAside(path: string): string {
  for (let count = 1; ; count++) {
    const name = `${path}.put-aside-${count}`;
    if (!isThere(name)) return name;
  }
}

function refuse(tool: string, path: string, { directory }: GrantPlaces): KitbagError {
  const name = relative(directory, path) || basename(path);
  return new KitbagError("permission-refused", {
    tool,
    permission: `write = ${JSON.stringify(name)}`,
    reason: `it is Kitbag's own, and was made while the tool ran; it was put aside as ${name}.put-aside-…`,
  });
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function toReal(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
