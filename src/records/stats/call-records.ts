import type { JsonObject, JsonValue } from "../../core/json.ts";

/** The stream of the store's log that calls are recorded in. */
export const callStream = "calls";

/** What a record says about the beginning of a call. */
export interface StartRecord {
  readonly type: "call-start";
  readonly call: string;
  readonly tool: string;
  readonly parent: string | undefined;
  readonly source: string | undefined;
  readonly owner: string | undefined;
  /** The user who made the outermost call. */
  readonly user: string | undefined;
  readonly time: number;
}

/** What a record says about the end of a call. */
export interface EndRecord {
  readonly type: "call-end";
  readonly call: string;
  readonly tool: string;
  readonly durationMs: number;
  readonly queuedMs: number;
  readonly costUsd: number;
  /** The code of the error, if it failed. */
  readonly code: string | undefined;
  readonly recalled: boolean;
}

/** Reads a record of a call; `undefined` for any other value, because every user of the store can append to the stream. */
export function toCallRecord(value: JsonValue): StartRecord | EndRecord | undefined {
  const record = toFields(value);
  const { type, call, tool } = record;
  if (typeof call !== "string" || typeof tool !== "string") return undefined;
  if (type === "call-start") {
    return {
      type,
      call,
      tool,
      parent: toText(record["parent"]),
      source: toText(record["source"]),
      owner: toText(record["owner"]),
      user: toText(record["user"]),
      time: toNumber(record["time"]),
    };
  }
  if (type !== "call-end") return undefined;
  const outcome = toFields(record["outcome"]);
  const isFailed = outcome["status"] === "failed";
  return {
    type,
    call,
    tool,
    durationMs: toNumber(record["durationMs"]),
    queuedMs: toNumber(record["queuedMs"]),
    costUsd: toNumber(record["costUsd"]),
    code: isFailed ? (toText(toFields(outcome["error"])["code"]) ?? "unknown") : undefined,
    recalled: outcome["recalled"] !== undefined,
  };
}

function toFields(value: JsonValue | undefined): Readonly<Record<string, JsonValue | undefined>> {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? (value as JsonObject) : {};
}

function toText(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function toNumber(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}
