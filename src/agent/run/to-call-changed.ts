import { isDeepStrictEqual } from "node:util";

import { copyJson, maxJsonDepth, showValue, type JsonValue } from "../../core/json.ts";
import { patternRedactor } from "../../core/redaction/pattern-redactor.ts";
import type { CallChanged } from "../events.ts";

const maxBytes = 1_000_000;

/** Says what a call is made with, without what looks like a secret. */
export function toCallChanged(place: Omit<CallChanged, "type" | "input">, given: JsonValue): CallChanged {
  // The call itself says what is wrong with an input that is no JSON.
  const copy = copyJson(given, { maxBytes, maxDepth: maxJsonDepth });
  const input = patternRedactor(["credentials"]).value(copy.ok ? copy.value : showValue(given));
  const isWhole = copy.ok && isDeepStrictEqual(input, copy.value);
  return { type: "call-changed", ...place, input, ...(!isWhole && { redacted: true }) };
}
