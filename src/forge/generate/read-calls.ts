import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import type { LimitedCaller } from "../../workspace/call/authority.ts";

/** A call of a tool that is over, as it was recorded. */
export interface RecordedCall {
  readonly input: JsonObject;
  readonly durationMs: number;
  /** None if it succeeded. */
  readonly failure?: { readonly code: string; readonly message: string };
  /** Where its input was changed so that it fits. */
  readonly coerced: readonly string[];
  readonly capped: boolean;
}

const stream = "calls";
const mostEntries = 20_000;
const pageEntries = 1000;

const maxCalls = 500;

/** Reads the latest recorded calls of a tool, the latest first; only those of a caller who may not call everything, if one is given. */
export async function readCalls(
  { log }: Store,
  tool: string,
  caller?: LimitedCaller,
): Promise<readonly RecordedCall[]> {
  const ended = new Map<string, Omit<RecordedCall, "input">>();
  const found: RecordedCall[] = [];
  const last = await log.position(stream);
  for (let end = last; end > 0 && end > last - mostEntries && found.length < maxCalls; end -= pageEntries) {
    const after = Math.max(0, end - pageEntries);
    const entries = await log.read(stream, { after, limit: end - after });
    for (const { value } of entries.toReversed()) {
      const event = fieldsOf(value);
      if (event["tool"] !== tool || typeof event["call"] !== "string") continue;
      if (event["type"] === "call-end") ended.set(event["call"], readEnd(event));
      const over = ended.get(event["call"]);
      const isTheirs = caller === undefined || caller.owns(event["user"]);
      if (event["type"] === "call-start" && over !== undefined && isTheirs)
        found.push({ ...over, input: fieldsOf(event["input"]) });
      if (found.length === maxCalls) break;
    }
  }
  return found;
}

function readEnd(event: JsonObject): Omit<RecordedCall, "input"> {
  const { status, error, coerced, capped } = fieldsOf(event["outcome"]);
  const { code, message } = fieldsOf(error);
  const paths = Array.isArray(coerced) ? coerced.map((one: JsonValue) => textOf(fieldsOf(one)["path"])) : [];
  return {
    durationMs: Number(event["durationMs"] ?? 0),
    coerced: paths,
    capped: capped !== undefined,
    ...(status !== "ok" && { failure: { code: textOf(code), message: textOf(message) } }),
  };
}

function fieldsOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
