import type { Model, ModelMessage } from "../../models/model.ts";
import type { MemoryCompacted } from "../events.ts";
import type { ModelView } from "../exposure/exposure.ts";

/** What a memory is told before a question. */
export interface MemoryNeed {
  readonly run: string;
  readonly step: number;
  readonly model: Model;
  readonly view: ModelView;
  readonly messages: readonly ModelMessage[];
  /** The instructions of the open skills: they stay, whatever else goes. */
  readonly instructions: () => string;
  readonly signal: AbortSignal;
}

/**
 * Keeps a conversation within its limits.
 *
 * **Contract**: answers `undefined`, at once, when everything fits; otherwise with the messages to go on with, in which no call is
 * separated from its result. Never throws: if it cannot do better it leaves out the oldest.
 */
export interface Memory {
  fit(need: MemoryNeed): MemoryCompacted | undefined | Promise<MemoryCompacted | undefined>;
}

/** A memory without limits. */
export const endlessMemory: Memory = { fit: () => undefined };
