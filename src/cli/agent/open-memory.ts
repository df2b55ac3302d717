import type { LongTermMemory } from "../../agent/memory/long-term/long-term-memory.ts";
import { openLongTermMemory } from "../../agent/memory/long-term/open-long-term-memory.ts";
import type { Store } from "../../core/store.ts";
import type { Invocation } from "../cli-command.ts";
import { createRecords } from "../store/open-records.ts";

/** Opens the memory across conversations that is in a store. The person at the keyboard is the local user, by each of their names. */
export function openMemory(invocation: Invocation, store: Store): LongTermMemory {
  const { user } = createRecords(invocation);
  return openLongTermMemory({ store, ...(user !== undefined && { localUser: user }) });
}
