import type { IncomingMessage, ServerResponse } from "node:http";

import { KitbagError } from "../../core/errors.ts";
import type { Caller, GateLimits, GateRequest } from "../gate.ts";

/** What a request needs of its gate. */
export interface RequestParts {
  readonly bodies: Bodies;
  refuseScope(request: GateRequest, scopes: readonly string[]): void;
}

/** What was found out about a request on its way through the checks. */
export interface Checked {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: string;
  readonly requestId: string;
}

/** A request that was let in. A class, since there is one for each request and most need neither the signal nor the body. */
export class PassedRequest implements GateRequest {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller;
  readonly path: string;
  readonly query: string;
  readonly requestId: string;
  readonly #parts: RequestParts;
  #controller: AbortController | undefined;
  #body: Promise<Buffer> | undefined;

  constructor(checked: Checked, caller: Caller, parts: RequestParts) {
    this.incoming = checked.incoming;
    this.response = checked.response;
    this.caller = caller;
    this.path = checked.path;
    this.query = checked.query;
    this.requestId = checked.requestId;
    this.#parts = parts;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      const { response } = this;
      const leave = (): void => {
        if (!response.writableFinished) controller.abort(wentAway());
      };
      this.#controller = controller;
      if (response.closed || response.destroyed) leave();
      else response.once("close", leave);
    }
    return this.#controller.signal;
  }

  readBody(): Promise<Buffer> {
    this.#body ??= this.#readBody();
    return this.#body;
  }

  refuseScope(scopes: readonly string[]): void {
    this.#parts.refuseScope(this, scopes);
  }

  #readBody(): Promise<Buffer> {
    if (this.incoming.headers.expect !== undefined) this.response.writeContinue();
    return readBody(this.incoming, this.#parts.bodies);
  }
}

function wentAway(): KitbagError<"request-refused"> {
  return new KitbagError("request-refused", { status: 499, reason: "the client went away before it had its answer" });
}

/** A body that is on its way. */
interface Reading {
  readonly startedAt: number;
  receivedBytes: number;
  fail(status: number, reason: string): void;
}

/** Bodies that are on their way, and what they are held to. */
interface Bodies {
  readonly limits: Pick<GateLimits, "maxBodyBytes" | "minBytesPerSecond" | "slowAfterMs">;
  readonly reading: Set<Reading>;
}

/** Reads a whole body. Rejects with `request-refused` if it is too large, too slow, or never ends because the client left. */
function readBody(incoming: IncomingMessage, { limits, reading }: Bodies): Promise<Buffer> {
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
    // Node does not report an error without a listener, and "close" follows it.
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
