import type { IncomingMessage } from "node:http";

import { KitbagError } from "../../core/errors.ts";
import type { GateLimits } from "../gate.ts";

/** A body that is on its way. */
export interface Reading {
  readonly startedAt: number;
  receivedBytes: number;
  fail(status: number, reason: string): void;
}

/** Bodies that are on their way, and what they are held to. */
export interface Bodies {
  readonly limits: Pick<GateLimits, "maxBodyBytes" | "minBytesPerSecond" | "slowAfterMs">;
  readonly reading: Set<Reading>;
}

/** Reads a whole body. Rejects with `request-refused` if it is too large, too slow, or never ends because the client left. */
export function readBody(incoming: IncomingMessage, { limits, reading }: Bodies): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const finish = (): void => {
      reading.delete(state);
      incoming.off("data", take).off("end", end).off("close", leave);
    };
    const state: Reading = {
      startedAt: performance.now(),
      receivedBytes: 0,
      fail(status, reason) {
        finish();
        incoming.pause();
        reject(new KitbagError("request-refused", { status, reason }));
      },
    };
    const take = (chunk: Buffer): void => {
      state.receivedBytes += chunk.length;
      if (state.receivedBytes > limits.maxBodyBytes) state.fail(413, describeTooLarge(limits.maxBodyBytes));
      else chunks.push(chunk);
    };
    const end = (): void => {
      finish();
      const [first] = chunks;
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks));
    };
    const leave = (): void => state.fail(499, "the client went away before its request was complete");

    reading.add(state);
    // Node tells nobody of an error without a listener, and "close" follows it.
    incoming.on("data", take).on("end", end).on("close", leave);
    if (incoming.destroyed) leave();
  });
}

/** Ends the bodies that come too slowly. */
export function failSlow({ limits, reading }: Bodies): void {
  const now = performance.now();
  for (const body of reading) {
    const elapsedMs = now - body.startedAt;
    if (elapsedMs < limits.slowAfterMs || body.receivedBytes * 1000 >= limits.minBytesPerSecond * elapsedMs) continue;
    body.fail(408, `the body came slower than ${limits.minBytesPerSecond} bytes a second`);
  }
}

/** Says that a body is too large. */
export function describeTooLarge(maxBodyBytes: number): string {
  return `the body is larger than ${maxBodyBytes} bytes; send less`;
}
