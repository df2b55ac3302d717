import { isKitbagError, toFailure, type ErrorCode, type Failure } from "../core/errors.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";

/** An error of the API, as RFC 9457 writes it: a failure of the error table with the status of its answer. */
export interface ProblemDocument extends JsonObject {
  /** `urn:kitbag:error:` and the code. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** The message: what was wrong, where, and what to do. */
  readonly detail: string;
  readonly code: string;
  readonly details: JsonValue;
}

/** The media type of a problem. */
export const problemType = "application/problem+json";

/** The status of a code that its ending does not tell. */
const statuses: Partial<Record<ErrorCode, number>> = {
  "approval-missing": 403,
  "approval-denied": 403,
  "author-denied": 403,
  "budget-spent": 429,
  "call-cancelled": 409,
  "call-timeout": 504,
  "caller-read-only": 403,
  "file-denied": 403,
  "limit-reached": 429,
  "model-overloaded": 503,
  "model-timeout": 504,
  "network-refused": 403,
  "output-missing": 404,
  "output-too-large": 413,
  "permission-refused": 403,
  "quota-reached": 429,
  "run-ended": 409,
  "run-leased": 409,
  "scope-missing": 403,
  "session-closed": 409,
  "skill-file-missing": 404,
  "skill-required": 409,
  "skill-untrusted": 403,
  "store-failed": 503,
  "store-unavailable": 503,
  "tool-ambiguous": 409,
  "tool-broken": 503,
  "tool-unavailable": 409,
  "tool-undeclared": 403,
  "user-unknown": 404,
};

/** The status of an answer that says why something failed. What a tool got wrong is no fault of the service: 422. */
function statusOf(code: ErrorCode): number {
  const known = statuses[code];
  if (known !== undefined) return known;
  if (code.endsWith("-not-found")) return 404;
  if (code.endsWith("-duplicate") || code.endsWith("-conflict") || code.endsWith("-busy")) return 409;
  return 422;
}

/** Writes a failure as a problem. */
export function toProblem({ code, message, details }: Failure, status = statusOf(code)): ProblemDocument {
  const title = code.replaceAll("-", " ");
  return {
    type: `urn:kitbag:error:${code}`,
    title: `${title.slice(0, 1).toUpperCase()}${title.slice(1)}`,
    status,
    detail: message,
    code,
    details: details as unknown as JsonValue,
  };
}

/** Says that a request is not one that the API answers. */
export function refuseRequest(status: number, reason: string): ProblemDocument {
  return toProblem(toFailure("request-refused", { status, reason }), status);
}

/** The problem of something thrown; `undefined` if it is a fault of the service, whose text may hold secrets. */
export function toThrownProblem(cause: unknown): ProblemDocument | undefined {
  if (isKitbagError(cause, "request-refused")) return toProblem(cause.toJSON(), cause.details.status);
  return isKitbagError(cause) ? toProblem(cause.toJSON()) : undefined;
}
