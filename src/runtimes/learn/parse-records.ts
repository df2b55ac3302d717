import { resolve } from "node:path";

import type { JsonObject } from "../../core/json.ts";
import type { Observation } from "./observation.ts";

/** Reads what the hooks inside an interpreter wrote, a line each. The script could have written there, too, so nothing is believed. */
export function parseRecords(text: string, directory: string): Observation[] {
  return text.split("\n").flatMap((line) => {
    const record = parseLine(line);
    return record === undefined ? [] : (toObservation(record, directory) ?? []);
  });
}

function parseLine(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

const accesses = ["read", "write", "list", "make"] as const;

function toObservation(record: JsonObject, directory: string): Observation | undefined {
  const { kind, name, path, access, host, port } = record;
  if (kind === "variable" && typeof name === "string") return { kind, name };
  if (kind === "program" && typeof path === "string") return { kind, path, failed: true };
  if (kind === "connection" && typeof host === "string" && typeof port === "number") return { kind, host, port };
  if (kind !== "file" || typeof path !== "string" || path.includes("\0")) return undefined;
  const known = accesses.find((one) => one === access);
  if (known === undefined) return undefined;
  // A hook sees what is asked for, before anybody knows how it ends.
  return { kind, path: resolve(directory, path), access: known, failed: true };
}
