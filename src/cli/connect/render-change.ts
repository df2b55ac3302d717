import { isDeepStrictEqual } from "node:util";

import { isRecord, type JsonObject, type JsonValue } from "../../core/json.ts";
import { maskSecrets } from "../../skills/scan/find-secrets.ts";
import { serverName } from "./clients.ts";
import type { ServerEdits } from "./edit-servers.ts";

/**
 * Shows how the entry of Kitbag changes, a line a key. What Kitbag did not write itself may be a secret, and is shown without its values.
 */
export function renderChange(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  { servers, inputs }: ServerEdits,
): string {
  const written = servers.get(serverName);
  const [old, now] = [before, after].map((entry) => (isRecord(entry) ? entry : {}));
  const keys = [...new Set([...Object.keys(now ?? {}), ...Object.keys(old ?? {})])];
  const lines = keys.flatMap((key) => {
    const [was, is] = [old?.[key], now?.[key]];
    if (isDeepStrictEqual(was, is)) return [`    ${key}: ${show(key, is, written)}`];
    return [
      ...(was === undefined ? [] : [`  - ${key}: ${show(key, was, written)}`]),
      ...(is === undefined ? [] : [`  + ${key}: ${show(key, is, written)}`]),
    ];
  });
  const asked = (inputs ?? []).map((input) => `  + inputs: ${JSON.stringify(input)}`);
  return [`${after === undefined ? "-" : before === undefined ? "+" : " "} ${serverName}`, ...lines, ...asked].join(
    "\n",
  );
}

function show(key: string, value: JsonValue | undefined, written: JsonObject | undefined): string {
  if (isDeepStrictEqual(value, written?.[key])) return JSON.stringify(value);
  return JSON.stringify(maskValue(value, key));
}

const harmless = new Set(["type", "command", "enabled", "disabled"]);

/** A value without what may be a secret. */
function maskValue(value: JsonValue | undefined, key: string): JsonValue {
  if (Array.isArray(value)) return value.map((word, index) => maskWord(String(word), value[index - 1]));
  if (typeof value !== "string")
    return isRecord(value) ? Object.fromEntries(Object.keys(value).map((name) => [name, "…"])) : (value ?? null);
  return harmless.has(key) ? maskSecrets(value) : "…";
}

const secretFlag = /^--?[\w-]*(?:key|token|secret|passw|auth|header|cookie)[\w-]*$/iu;
const secretPart = /((?:key|token|secret|passw\w*|auth\w*|cookie)["']?\s*[=:]\s*).+/iu;

/** A word of a command line, or a URL, without what may be a secret; long random texts may be one, too. */
export function maskWord(word: string, before?: unknown): string {
  return maskKnown(word, before).replaceAll(/(?=[\w+=-]*\d)(?=[\w+=-]*[A-Za-z])[\w+=-]{32,}/gu, "…");
}

/** Whether a word of a command line, or a URL, holds a secret: a key of a known form, or the value of a telling name. */
export function hasSecret(word: string, before?: unknown): boolean {
  return maskKnown(word, before) !== word;
}

function maskKnown(word: string, before: unknown): string {
  if (typeof before === "string" && secretFlag.test(before)) return "…";
  return maskSecrets(word)
    .replace(secretPart, "$1…")
    .replace(/(:\/\/)[^/@\s]+@/u, "$1…@");
}
