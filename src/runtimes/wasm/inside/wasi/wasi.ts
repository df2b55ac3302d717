import type { CallFacts, Root } from "../wire/messages.ts";
import { descriptorFunctions } from "./descriptor-functions.ts";
import { createDescriptors } from "./descriptors.ts";
import { errno, toErrno } from "./errno.ts";
import type { Guest } from "./guest.ts";
import { linkFunctions, pathFunctions, createPaths } from "./path-functions.ts";
import { pollFunctions, processFunctions } from "./process-functions.ts";
import { readFunctions, writeFunctions } from "./file-functions.ts";
import { type WasiFunctions, wasiNames } from "./wasi-names.ts";

/** What WASI of one call works with. */
export interface WasiOptions {
  readonly guest: Guest;
  readonly writeOutput: (bytes: Uint8Array) => void;
  readonly writeError: (bytes: Uint8Array) => void;
  /** The largest file that can be written. */
  readonly fileBytes: number;
}

/** What a module gets when its call begins. */
export interface WasiCall extends CallFacts {
  readonly input: Uint8Array;
  readonly roots: readonly Root[];
}

/** A function that a module imports: it answers with the number of an error, 0 for none. */
export type WasiImport = (...values: never[]) => number;

/** WASI preview 1 for one call: all of it that needs no network. Made new for every call, because it holds what is open. */
export interface Wasi {
  readonly imports: Readonly<Record<string, WasiImport>>;
  /** Gives the module its streams, arguments and directories; before, it has nothing. */
  begin(call: WasiCall): void;
  /** Closes all that the module left open. */
  close(): void;
}

const nothing: CallFacts = { args: [], environment: {} };

/** Makes WASI for one call, which begins later. */
export function createWasi({ guest, writeOutput, writeError, fileBytes }: WasiOptions): Wasi {
  let facts = nothing;
  const descriptors = createDescriptors();
  const paths = createPaths(guest, descriptors);
  const functions: WasiFunctions = {
    ...processFunctions(guest, () => facts),
    ...readFunctions(guest, descriptors),
    ...writeFunctions(guest, descriptors, fileBytes),
    ...descriptorFunctions(guest, descriptors),
    ...pathFunctions(guest, descriptors, paths),
    ...linkFunctions(guest, paths),
    ...pollFunctions(guest, descriptors),
  };
  return {
    imports: Object.fromEntries(wasiNames.map((name) => [name, toImport(functions[name])])),
    begin(call) {
      facts = call;
      const input = { kind: "input", bytes: call.input, position: 0 } as const;
      const output = { kind: "output", write: writeOutput } as const;
      descriptors.openAll([{ ...input }, output, { kind: "output", write: writeError }], call.roots);
    },
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
