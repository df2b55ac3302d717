/** Writes the log of a store back into its file whenever it is asked to, in a thread of its own. Its parent is told when that is done. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

/** What the thread is asked: to write the log back, or to end. */
export interface CheckpointQuestion {
  readonly isLast: boolean;
}

const { address } = workerData as { readonly address: string };
const database = new DatabaseSync(new URL(address), { timeout: 0 });

parentPort?.on("message", ({ isLast }: CheckpointQuestion) => {
  if (isLast) {
    database.close();
    parentPort?.close();
  } else {
    // The second time takes less, and leaves less to the thread that writes.
    writeBack();
    writeBack();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort?.postMessage("done");
  }
});

/** If it fails nothing is lost: what was acknowledged is in the log. */
function writeBack(): void {
  try {
    database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // A later write makes the checkpoint when the log has grown too long.
  }
}
