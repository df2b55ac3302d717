import type { CallFacts, Root } from "../wire/messages.ts";
import { descriptorFunctions } from "./descriptor-functions.ts";
import { createDescriptors } from "./descriptors.ts";
import { errno, toErrno } from "./errno.ts";
import type { Guest } from "./guest.ts";
import { linkFunctions } from "./link-functions.ts";
import { pathFunctions } from "./path-functions.ts";
import { createPaths } from "./paths.ts";
import { pollFunctions } from "./poll-functions.ts";
import { processFunctions } from "./process-functions.ts";
import { readFunctions } from "./read-functions.ts";
import type { WasiFunctions } from "./wasi-function.ts";
import { wasiNames } from "./wasi-names.ts";
import { writeFunctions } from "./write-functions.ts";

/** What a module gets from WASI for one call. */
export interface WasiOptions extends CallFacts {
  readonly guest: Guest;
  readonly input: Uint8Array;
  readonly writeOutput: (bytes: Uint8Array) => void;
  readonly writeError: (bytes: Uint8Array) => void;
  readonly roots: readonly Root[];
  /** The largest file that can be written. */
  readonly fileBytes: number;
}

/** A function that a module imports: it answers with the number of an error, 0 for none. */
export type WasiImport = (...values: never[]) => number;

/** WASI preview 1 for one call: all of it that needs no network. Made new for every call, because it holds what is open. */
export interface Wasi {
  readonly imports: Readonly<Record<string, WasiImport>>;
  /** Closes all that the module left open. */
  close(): void;
}

/** Makes WASI for one call. */
export function createWasi(options: WasiOptions): Wasi {
  const { guest, input, writeOutput, writeError, roots, fileBytes } = options;
  const descriptors = createDescriptors(
    [
      { kind: "input", bytes: input, position: 0 },
      { kind: "output", write: writeOutput },
      { kind: "output", write: writeError },
    ],
    roots,
  );
  const paths = createPaths(guest, descriptors);
  const functions: WasiFunctions = {
    ...processFunctions(guest, options),
    ...readFunctions(guest, descriptors),
    ...writeFunctions(guest, descriptors, fileBytes),
    ...descriptorFunctions(guest, descriptors),
    ...pathFunctions(guest, descriptors, paths),
    ...linkFunctions(guest, paths),
    ...pollFunctions(guest, descriptors),
  };
  const imports = Object.fromEntries(wasiNames.map((name) => [name, toImport(functions[name])]));
  return { imports, close: () => descriptors.closeAll() };
}

function toImport(run: ((...values: never[]) => void) | undefined): WasiImport {
  if (run === undefined) return () => errno.notsup;
  return (...values) => {
    try {
      run(...values);
      return 0;
    } catch (cause) {
      return toErrno(cause);
    }
  };
}
