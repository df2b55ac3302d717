import { KitbagError } from "../../core/errors.ts";
import type { KeyValueStore } from "../../core/store.ts";
import { takeLease } from "../lease.ts";

/**
 * Runs `work` while nobody else, here or in another process, does so for the same letter.
 *
 * @throws {KitbagError} `dead-letter-busy` if somebody else does.
 */
export async function withLetter<Answer>(kv: KeyValueStore, id: string, work: () => Promise<Answer>): Promise<Answer> {
  const lease = await takeLease(kv, `dead-claim:${id}`);
  if (lease === undefined) throw new KitbagError("dead-letter-busy", { id });
  try {
    return await work();
  } finally {
    await lease.end();
  }
}
