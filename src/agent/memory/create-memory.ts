import { endlessMemory, type Memory } from "./memory.ts";

/** How long a conversation may become. */
export interface MemoryOptions {
  readonly maxMessages?: number;
  readonly maxTokens?: number;
}

/** Makes the memory of a run. */
export function createMemory(_options: MemoryOptions | undefined): Memory {
  return endlessMemory;
}
