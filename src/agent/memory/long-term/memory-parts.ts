import type { JsonSchema } from "../../../core/schema/json-schema.ts";
import type { Store } from "../../../core/store.ts";
import type { Facts } from "./facts.ts";
import type { Vectors } from "./fused-search.ts";
import type { MemoryFiles } from "./memory-files.ts";
import type { MemoryLimits } from "./memory-rows.ts";
import type { Turns } from "./turns.ts";

/** What a memory is made of. */
export interface UserMemoryOptions {
  readonly store: Store;
  /** What its keys begin with. */
  readonly prefix: string;
  readonly limits: MemoryLimits;
  readonly now: () => number;
  readonly vectors: Vectors | undefined;
  readonly workingSchema: JsonSchema | undefined;
}

/** What its parts share. */
export interface UserMemoryParts extends UserMemoryOptions {
  readonly facts: Facts;
  readonly turns: Turns;
  readonly files: MemoryFiles;
  /** Where the vectors of facts and turns are. */
  readonly collections: { readonly facts: string; readonly turns: string };
}
