import type { IncomingMessage, ServerResponse } from "node:http";

import { KitbagError } from "../../core/errors.ts";
import type { Caller, GateRequest } from "../gate.ts";
import { readBody, type Bodies } from "./read-body.ts";

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
}

/** A request that was let in. A class, since there is one for each request and most need neither the signal nor the body. */
export class PassedRequest implements GateRequest {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller;
  readonly path: string;
  readonly query: string;
  readonly #parts: RequestParts;
  #controller: AbortController | undefined;
  #body: Promise<Buffer> | undefined;

  constructor(checked: Checked, caller: Caller, parts: RequestParts) {
    this.incoming = checked.incoming;
    this.response = checked.response;
    this.caller = caller;
    this.path = checked.path;
    this.query = checked.query;
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
