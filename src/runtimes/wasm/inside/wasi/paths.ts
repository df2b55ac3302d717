import type { Descriptors } from "./descriptors.ts";
import { WasiError } from "./errno.ts";
import type { Guest } from "./guest.ts";
import { walk, type Place } from "./walk.ts";

const followFlag = 1;

/** A path as a module gives it: the directory it begins at, and where its text is. */
export type PathArguments = readonly [fd: number, pointer: number, length: number];

/** What paths of a module lead to. */
export interface Paths {
  text(pointer: number, length: number): string;
  /** Does something with what a path leads to. */
  use(path: PathArguments, flags: number, act: (place: Place) => void): void;
  /** The same where the module may write; a link is not followed, and a slash at the end is left out. */
  change(path: PathArguments, act: (place: string) => void): void;
}

/** Makes what functions with paths share. */
export function createPaths(guest: Guest, descriptors: Descriptors): Paths {
  function find([fd, pointer, length]: PathArguments, flags: number): Place {
    return walk(descriptors.directory(fd), guest.text(pointer, length), (flags & followFlag) !== 0);
  }

  return {
    text: guest.text,
    use: (path, flags, act) => withPlace(find(path, flags), act),
    change([fd, pointer, length], act) {
      const path = guest.text(pointer, length).replace(/\/+$/u, "");
      withPlace(walk(descriptors.directory(fd), path, false), (place) => act(checkWritable(place)));
    },
  };
}

/** The path of a place that the module may write. */
export function checkWritable({ access, path }: Place): string {
  if (access !== "write") throw new WasiError("rofs");
  return path;
}

function withPlace(place: Place, act: (place: Place) => void): void {
  try {
    act(place);
  } finally {
    place.close();
  }
}
