import { isKitbagError, KitbagError } from "../../core/errors.ts";
import type { KeyValueStore } from "../../core/store.ts";

/** For so long nobody else tries a letter whose process has vanished. */
const leaseMs = 30_000;

/**
 * Runs `work` while nobody else, here or in another process, does so for the same letter.
 *
 * @throws {KitbagError} `dead-letter-busy` if somebody else does.
 */
export async function withLetter<Answer>(kv: KeyValueStore, id: string, work: () => Promise<Answer>): Promise<Answer> {
  const key = `dead-claim:${id}`;
  const claim = (ifVersion: number): Promise<number> => kv.set(key, true, { ifVersion, expiresInMs: leaseMs });
  let version = await claim(0).catch((cause: unknown) => {
    throw isKitbagError(cause, "store-conflict") ? new KitbagError("dead-letter-busy", { id }, { cause }) : cause;
  });
  let renewing: Promise<unknown> = Promise.resolve();
  const renew = async (): Promise<void> => void (version = await claim(version));
  const timer = setInterval(() => {
    renewing = renewing.then(renew).catch(ignore);
  }, leaseMs / 3);
  timer.unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await renewing;
    // What is not given back ends by itself.
    await kv.delete(key, { ifVersion: version }).catch(ignore);
  }
}

function ignore(): void {}
