import { lstatSync } from "node:fs";

import { KitbagError } from "../core/errors.ts";
import { isBelow } from "./find-link-out.ts";
import { watchFor } from "./limits/watch-resources.ts";
import { emptyFile, type Mount } from "./sandbox.ts";

/** Answers with the first shielded place that is not what it was; nothing while all are. */
export type FindReplaced = () => string | undefined;

/**
 * Which file or directory is at a path: device, inode and time of birth, because the number of an inode that was removed is given to
 * the next one. Undefined if nothing is there, or it cannot be reached.
 */
export function identify(path: string): string | undefined {
  try {
    const { dev, ino, birthtimeNs } = lstatSync(path, { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  } catch {
    return undefined;
  }
}

/**
 * Takes note of what is at each shielded place now. When another file takes such a place, or it is removed, the kernel removes what was
 * mounted there from every sandbox, so a sandbox that was made before has lost that shield.
 */
export function noteShields(mounts: readonly Mount[]): FindReplaced {
  const readOnly = mounts.filter(({ shields, source, write }) => source === shields && write !== true);
  const noted = mounts.flatMap((mount) => {
    const { shields: path, source } = mount;
    if (path === undefined) return [];
    // Nothing can be made there, so the tool has nothing of a file that is gone: the log of a database comes and goes.
    const mayGo = source === emptyFile && readOnly.some(({ shields = "" }) => isBelow(path, shields));
    return [{ path, before: identify(path), mayGo }];
  });
  return () =>
    noted.find(({ path, before, mayGo }) => {
      const now = identify(path);
      return now !== before && !(mayGo && now === undefined);
    })?.path;
}

/** Watches shielded places while a program runs; calls `onReplaced` once with the first replaced one. Answers with a stop function. */
export function watchShields(findReplaced: FindReplaced, onReplaced: (path: string) => void): () => void {
  return watchFor(findReplaced, onReplaced);
}

/** Why a call failed whose tool may have lost a shield. */
export function refuseReplaced(path: string): KitbagError<"grant-changed"> {
  const found = "it is shielded, and was replaced or removed while the tool ran, which takes the shield away";
  return new KitbagError("grant-changed", { path, found, cure: "call the tool again" });
}
