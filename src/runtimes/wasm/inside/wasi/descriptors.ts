import { closeSync, constants, openSync } from "node:fs";

import type { Root } from "../wire/messages.ts";
import { WasiError } from "./errno.ts";
import type { Directory } from "./walk.ts";
import { directoryFlags } from "./walk.ts";

/** Something that a module has open. */
export type Descriptor =
  | { readonly kind: "input"; readonly bytes: Uint8Array; position: number }
  | { readonly kind: "output"; readonly write: (bytes: Uint8Array) => void }
  | OpenDirectory
  | OpenFile;

/** A directory that is open: one that was granted, or one below it. */
export interface OpenDirectory extends Directory {
  readonly kind: "directory";
  /** Under which name it was granted. */
  readonly preopen?: string;
  /** What it held when it was last read from the start. */
  listing?: readonly Entry[];
}

/** An entry of a directory. */
export interface Entry {
  readonly name: Uint8Array;
  readonly inode: bigint;
  readonly type: number;
}

/** A file that is open. */
export interface OpenFile {
  readonly kind: "file";
  readonly handle: number;
  readonly readable: boolean;
  readonly writable: boolean;
  readonly append: boolean;
  position: number;
}

/** How many things a module may have open at once. */
const maxOpen = 128;

/** What a module has open, by number. */
export interface Descriptors {
  get(number: number): Descriptor;
  directory(number: number): OpenDirectory;
  file(number: number): OpenFile;
  /** Gives it the lowest free number. */
  add(descriptor: Descriptor): number;
  close(number: number): void;
  move(from: number, to: number): void;
  closeAll(): void;
}

/** Makes the descriptors of one call, which begins with its standard streams as 0, 1 and 2, then what is granted. */
export function openDescriptors(standard: readonly Descriptor[], roots: readonly Root[]): Descriptors {
  const descriptors = createDescriptors();
  try {
    for (const descriptor of standard) descriptors.add(descriptor);
    for (const root of roots) descriptors.add(openRoot(root));
    return descriptors;
  } catch (cause) {
    descriptors.closeAll();
    throw cause;
  }
}

function createDescriptors(): Descriptors {
  const open = new Map<number, Descriptor>();

  function get(number: number): Descriptor {
    const found = open.get(number);
    if (found === undefined) throw new WasiError("badf");
    return found;
  }

  function close(number: number): void {
    const found = get(number);
    open.delete(number);
    if ("handle" in found) closeSync(found.handle);
  }

  function add(descriptor: Descriptor): number {
    let number = 0;
    while (open.has(number)) number += 1;
    open.set(number, descriptor);
    if (number < maxOpen) return number;
    close(number);
    throw new WasiError("mfile");
  }

  return {
    get,
    directory(number) {
      const found = get(number);
      if (found.kind !== "directory") throw new WasiError("notdir");
      return found;
    },
    file(number) {
      const found = get(number);
      if (found.kind === "directory") throw new WasiError("isdir");
      if (found.kind !== "file") throw new WasiError("spipe");
      return found;
    },
    add,
    close,
    move(from, to) {
      const moved = get(from);
      if (from === to) return;
      if (open.has(to)) close(to);
      else if (to >>> 0 >= maxOpen) throw new WasiError("badf");
      open.delete(from);
      open.set(to, moved);
    },
    closeAll: () => [...open.keys()].forEach(close),
  };
}

function openRoot({ name, path, access, only }: Root): OpenDirectory {
  const handle = openSync(path, directoryFlags & ~constants.O_NOFOLLOW);
  return { kind: "directory", handle, only, preopen: name, ...(access !== undefined && { access }) };
}
