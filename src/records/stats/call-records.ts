import { isKitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { Recorder, type Recording } from "../recorder.ts";

/** The stream of the store's log that calls are recorded in. */
export const callStream = "calls";

/** Writes what calls say when they begin and end. */
export interface CallRecorder {
  /**
   * Appends a record, which must not change until it is acknowledged. With `durable: false` it need not be on disk by then.
   *
   * @throws {KitbagError} `store-…` if it cannot be written.
   */
  append(record: JsonValue, options: { readonly durable: boolean }): Promise<void>;
}

interface CallRecord {
  readonly record: JsonValue;
  readonly durable: boolean;
}

/** Makes the recorder of the calls in a store. */
export function createCallRecorder(store: Pick<Store, "log">): CallRecorder {
  async function write(recordings: readonly Recording<CallRecord, void>[]): Promise<void> {
    const records = recordings.map(({ item }) => item.record);
    try {
      await store.log.append(callStream, records, { durable: recordings.some(({ item }) => item.durable) });
      for (const { resolve } of recordings) resolve();
    } catch (cause) {
      if (recordings.length === 1 || !isKitbagError(cause, "store-value-invalid")) throw cause;
      // A record that cannot be kept fails alone.
      for (const recording of recordings) await write([recording]).catch(recording.reject);
    }
  }

  const recorder = new Recorder<CallRecord, void>({ write });
  return { append: (record, { durable }) => recorder.append({ record, durable }) };
}

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
