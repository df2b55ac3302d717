import type { ErrorCode, ErrorDetails } from "./error-details.ts";
import { messages } from "./error-messages.ts";
import { isNodeSupported } from "./error-texts.ts";

export { describeCause, describeProblem, quote } from "./error-texts.ts";
export type { ErrorCode, ErrorDetails, Problem, UntilThen } from "./error-details.ts";

/** Every error code, sorted. */
export const errorCodes: readonly ErrorCode[] = Object.keys(messages).toSorted() as ErrorCode[];

/** A failure as data: what an outcome carries, an event records and a model reads. */
export type Failure = {
  readonly [Code in ErrorCode]: {
    readonly code: Code;
    readonly message: string;
    readonly details: ErrorDetails[Code];
  };
}[ErrorCode];

/** Makes a failure as data. */
export function toFailure<Code extends ErrorCode>(code: Code, details: ErrorDetails[Code]): Failure {
  return { code, message: messages[code](details), details } as Failure;
}

const brand = Symbol.for("kitbag.error");

/** The one error class. Match on `code`, never on the text. */
export class KitbagError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "KitbagError";
  readonly code: Code;
  readonly details: ErrorDetails[Code];

  constructor(code: Code, details: ErrorDetails[Code], options?: ErrorOptions) {
    super(messages[code](details), options);
    this.code = code;
    this.details = details;
  }

  get [brand](): true {
    return true;
  }

  toJSON(): Failure {
    return { code: this.code, message: this.message, details: this.details } as Failure;
  }
}

/**
 * Tells whether `value` is a {@link KitbagError}, of the given code if one is given. Also right for errors that come from
 * another copy of the package.
 *
 * @example
 * ```ts
 * import { defineTool, isKitbagError } from "kitbag";
 *
 * try {
 *   defineTool({ name: "no spaces", description: "Wrong name", run: () => null });
 * } catch (cause) {
 *   console.assert(isKitbagError(cause, "tool-invalid") && cause.details.problems[0]?.path === "name");
 * }
 * ```
 */
export function isKitbagError<Code extends ErrorCode = ErrorCode>(
  value: unknown,
  code?: Code,
): value is KitbagError<Code> {
  try {
    if (typeof value !== "object" || value === null || !(brand in value)) return false;
    return code === undefined || (value as KitbagError).code === code;
  } catch {
    // The thrown value may be anything, also a proxy that throws when it is read.
    return false;
  }
}

/**
 * Refuses a Node that is too old.
 *
 * @throws {KitbagError} `node-unsupported`
 */
export function requireNode(version: string): void {
  if (!isNodeSupported(version)) throw new KitbagError("node-unsupported", { found: version });
}

// Every part of Kitbag loads this file: so a Node that is too old is reported at the first import, and not as a missing function later.
requireNode(process.versions.node);
