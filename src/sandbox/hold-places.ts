import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, type BigIntStats } from "node:fs";

import { KitbagError } from "../core/errors.ts";
import { isBelow } from "./find-link-out.ts";
import { isInside, toRealPath } from "../platform/paths.ts";
import type { Mount, Profile, SandboxName } from "./sandbox.ts";
import { identify } from "./watch-shields.ts";

/** A file or directory that is held open: it stays the same one, whatever another program puts at its path. */
export interface HeldPlace {
  /** Of this process. It has no right to read or write: it only says which file or directory is meant. */
  readonly descriptor: number;
  /** Device and inode, to know it again. */
  readonly identity: string;
  readonly isDirectory: boolean;
}

/** A mount, and what is held open of its source if a tool could have changed it. */
export interface HeldMount extends Mount {
  readonly held?: HeldPlace;
}

/** Opens a path as a place only; Node has no name for it. */
const asPlace = 0o10000000;

/**
 * Opens every source that a tool could replace: what a profile grants, and what it shields below. From here on these mounts are made of
 * what was opened, and not of what is at the path by then.
 *
 * @throws {KitbagError} `grant-changed` if a link is on the way to one, or it no longer exists.
 */
export function holdPlaces(mounts: readonly Mount[], profile: Pick<Profile, "mounts">): readonly HeldMount[] {
  const granted = profile.mounts.filter((mount) => mount.granted === true).map(({ source }) => source);
  // What a sandbox has of the system can be below a granted path, too, and has links; no tool can change it.
  const others = new Set(profile.mounts.filter((mount) => mount.granted !== true).map(({ target }) => target));
  const isReplaceable = ({ source, target }: Mount): boolean =>
    others.has(target) && granted.some((place) => isInside(source, place));
  const held: HeldMount[] = [];
  try {
    for (const mount of mounts) {
      const isHeld = mount.granted === true || isReplaceable(mount);
      const place = isHeld ? holdMount(mount) : undefined;
      if (isHeld && place === undefined) continue;
      held.push(place === undefined ? mount : { ...mount, held: place });
    }
    return held;
  } catch (cause) {
    releasePlaces(held);
    throw cause;
  }
}

/** Closes what is held open. */
export function releasePlaces(mounts: readonly HeldMount[]): void {
  for (const { held } of mounts) if (held !== undefined) closeSync(held.descriptor);
}

/** Holds the source of a mount; nothing if it is an entry of a folder, and another program has removed it or made it a link since. */
function holdMount({ source, partOf }: Mount): HeldPlace | undefined {
  try {
    return holdPlace(source);
  } catch (cause) {
    const isThere = lstatSync(source, { throwIfNoEntry: false })?.isSymbolicLink() === false;
    if (partOf === undefined || isThere || toRealPath(partOf) !== partOf) throw cause;
    return undefined;
  }
}

function holdPlace(path: string): HeldPlace {
  const descriptor = openPlace(path);
  try {
    const facts = fstatSync(descriptor, { bigint: true });
    // The kernel says where it really is: a link on the way leads elsewhere.
    const real = readlinkSync(`/proc/self/fd/${descriptor}`);
    if (facts.isSymbolicLink() || real !== path) throw changed(path, describe(path, facts, real));
    return { descriptor, identity: toIdentity(facts), isDirectory: facts.isDirectory() };
  } catch (cause) {
    closeSync(descriptor);
    throw cause;
  }
}

function openPlace(path: string): number {
  try {
    return openSync(path, asPlace | constants.O_NOFOLLOW);
  } catch (cause) {
    throw changed(path, `it cannot be opened any more (${(cause as NodeJS.ErrnoException).code})`);
  }
}

function describe(path: string, facts: BigIntStats, real: string): string {
  if (facts.isSymbolicLink()) return "it is a link now, and was none when it was granted";
  return real === `${path} (deleted)`
    ? "it was removed"
    : `a link leads to ${real} now, and there was none when it was granted`;
}

function changed(path: string, found: string): KitbagError<"grant-changed"> {
  const cure = "another tool or program may have replaced it; put it back, or grant the place itself, and call again";
  return new KitbagError("grant-changed", { path, found, cure });
}

/** What is at granted and shielded places now, to tell whether it is what a sandbox that waits was made with. */
export function identifyPlaces(mounts: readonly Mount[]): readonly (string | undefined)[] {
  return mounts
    .filter(({ granted, shields }) => granted === true || shields !== undefined)
    .map(({ source, shields = source }) => identify(shields));
}

function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** For a back end that is told paths only: refuses places that another tool could replace while a program starts. */
export interface PathGuard {
  /**
   * Takes note of what a program is given; answers with what to call when it has ended.
   *
   * @throws {KitbagError} `sandbox-weak`
   */
  take(mounts: readonly Mount[]): () => void;
}

/**
 * Makes a guard. It knows the tools that this process has started: a path can only be replaced by one that runs. So it refuses a path
 * below a folder that any other tool was given to write, and a folder to write while a tool runs that was given a path below it.
 */
export function createPathGuard(sandbox: SandboxName): PathGuard {
  const written = new Set<string>();
  const running = new Set<readonly Mount[]>();

  function refuse(path: string, folder: string): never {
    const lacks = [`that ${path} stays what it is while another tool may write ${folder}, and put a link there`];
    throw new KitbagError("sandbox-weak", { sandbox, lacks });
  }

  return {
    take(mounts) {
      const granted = mounts.filter((mount) => mount.granted === true);
      const own = new Set(granted.filter(({ write }) => write === true).map(({ source }) => source));
      for (const { source } of granted) {
        for (const folder of written) if (!own.has(folder) && isBelow(source, folder)) refuse(source, folder);
      }
      for (const folder of own) {
        const others = [...running].filter((other) => other.every((mount) => mount.source !== folder)).flat();
        for (const { source } of others) if (isBelow(source, folder)) refuse(source, folder);
      }
      for (const folder of own) written.add(folder);
      running.add(granted);
      return () => void running.delete(granted);
    },
  };
}
