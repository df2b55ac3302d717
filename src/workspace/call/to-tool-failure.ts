import { errorCodes, isKitbagError, toFailure, type ErrorDetails, type Failure } from "../../core/errors.ts";
import { copyJson, maxJsonDepth } from "../../core/json.ts";
import { describeThrown } from "../describe-thrown.ts";
import { isExhausted } from "../../core/is-exhausted.ts";
import type { Call } from "./call.ts";

/** The largest details that an error of a tool may bring. */
const maxBytes = 64 * 1024;

/** The failure of a tool that threw `cause`. A {@link KitbagError} stays what it is, if it is one of ours and can be shown. */
export function toToolFailure(call: Call, cause: unknown): Failure {
  const { address: tool } = call;
  if (isExhausted(cause)) return toFailure("descriptors-exhausted", { tool, reason: describeThrown(cause) });
  return fromKitbagError(cause) ?? toFailure("tool-failed", { tool, reason: describeThrown(cause) });
}

function fromKitbagError(cause: unknown): Failure | undefined {
  if (!isKitbagError(cause) || !errorCodes.includes(cause.code)) return undefined;
  try {
    const details = copyJson(cause.details, { maxBytes, maxDepth: maxJsonDepth });
    return details.ok ? toFailure(cause.code, details.value as unknown as ErrorDetails[typeof cause.code]) : undefined;
  } catch {
    // Details that are not what the code demands have no message.
    return undefined;
  }
}
