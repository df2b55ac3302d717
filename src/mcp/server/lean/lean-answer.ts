import type { GateRequest } from "../../../gate/gate.ts";

/** What became of a request that might be plain. */
export interface LeanAnswer {
  /** If not, the SDK answers it. */
  readonly isAnswered: boolean;
  /** When the SDK has. */
  end(): void;
}

/** Answers a request over HTTP if it is plain. */
export type LeanHttp = (request: GateRequest, body: unknown) => Promise<LeanAnswer>;

const nothing = (): void => {};

/** It was answered. */
export const answered: LeanAnswer = { isAnswered: true, end: nothing };

/** It is left to the SDK. */
export const left: LeanAnswer = { isAnswered: false, end: nothing };
