import type { CallFacts, Root } from "../wire/messages.ts";
import { descriptorFunctions } from "./descriptor-functions.ts";
import { openDescriptors } from "./descriptors.ts";
import { errno, toErrno } from "./errno.ts";
import type { Guest } from "./guest.ts";
import { linkFunctions, pathFunctions, createPaths } from "./path-functions.ts";
import { pollFunctions, processFunctions } from "./process-functions.ts";
import { readFunctions, writeFunctions } from "./file-functions.ts";
import { type WasiFunctions, wasiNames } from "./wasi-names.ts";

/** What WASI of one call works with. */
export interface WasiOptions extends CallFacts {
  readonly input: Uint8Array;
  readonly roots: readonly Root[];
  readonly guest: Guest;
  readonly writeOutput: (bytes: Uint8Array) => void;
  readonly writeError: (bytes: Uint8Array) => void;
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
  const { guest, input, roots, writeOutput, writeError, fileBytes } = options;
  const descriptors = openDescriptors(
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
  return {
    imports: Object.fromEntries(wasiNames.map((name) => [name, toImport(functions[name])])),
    close: () => descriptors.closeAll(),
  };
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
