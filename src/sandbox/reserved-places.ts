import { renameSync, symlinkSync } from "node:fs";
import { basename, dirname, relative } from "node:path";

import { KitbagError } from "../core/errors.ts";
import { findReal } from "./find-link-out.ts";
import { findShieldsAround, stateOf, type Reserved } from "./shields.ts";

/**
 * Looks after shielded places where nothing is yet, or a link. What is there is mounted so that no tool can change it; this cannot be,
 * so it is checked before and after each call.
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
  /** What was put aside last, by its path, and when: each call that could have made it is told. */
  const putAside = new Map<string, Aside>();

  return {
    watch(tool, reserved, findPlanted = () => []) {
      const startedAt = performance.now();
      const watched = reserved.map((place) => ({ ...place, parent: findReal(dirname(place.path)) }));
      return () => {
        const changed = watched.filter(({ path, link }) => stateOf(path) !== link);
        for (const place of changed) {
          putAside.set(place.path, { path: place.path, at: performance.now(), movedTo: restore(place) });
        }
        const planted = findPlanted().map((path) => {
          const movedTo = restore({ path, parent: findReal(dirname(path)) });
          return { path, at: performance.now(), movedTo };
        });
        const known = watched.flatMap(({ path }) => putAside.get(path) ?? []).filter(({ at }) => at > startedAt);
        const made = [...known, ...planted];
        if (made.length > 0) throw refuse(tool, made, (path) => relative(directory, path) || basename(path));
      };
    },
  };
}

interface Aside {
  readonly path: string;
  readonly at: number;
  /** Missing if there was nothing to move, or it could not be moved safely. */
  readonly movedTo: string | undefined;
}

interface Place extends Reserved {
  /** What its directory really was before the call. */
  readonly parent: string | undefined;
}

/** Answers with where it moved what was there. */
function restore({ path, link, parent }: Place): string | undefined {
  // A tool that put a link in the place of the directory must not choose what is moved.
  if (parent === undefined || findReal(dirname(path)) !== parent) return undefined;
  const movedTo = stateOf(path) === undefined ? undefined : nameAside(path);
  if (movedTo !== undefined) renameSync(path, movedTo);
  if (link !== undefined) symlinkSync(link, path);
  return movedTo;
}

function nameAside(path: string): string {
  for (let count = 1; ; count++) {
    const name = `${path}.put-aside-${count}`;
    if (stateOf(name) === undefined) return name;
  }
}

function refuse(tool: string, made: readonly Aside[], toName: (path: string) => string): KitbagError {
  const names = made.map(({ path }) => JSON.stringify(toName(path)));
  const moves = made.map(({ path, movedTo }) =>
    movedTo === undefined ? `${toName(path)} was changed` : `${toName(path)} was moved to ${toName(movedTo)}`,
  );
  const isOwn = made.every(({ path }) => findShieldsAround(path, { directory: dirname(path) }).some(({ own }) => own));
  const cure = isOwn ? "" : "; a tool that shall make such a file needs its exact path in its permission";
  return new KitbagError("permission-refused", {
    tool,
    permission: `write = ${names.length === 1 ? names[0] : `[${names.join(", ")}]`}`,
    reason: `the tool ran, and while it did, it or another program made or changed what is shielded: ${moves.join(", ")}; look at it, then delete it, or move it back if it is yours${cure}`,
  });
}
