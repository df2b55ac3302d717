import { quote } from "../../../core/errors.ts";
import type { JsonValue } from "../../../core/json.ts";
import { isName, nameRule } from "../../../core/names.ts";
import { isSchemaObject } from "../../../core/schema/json-schema.ts";
import type { ToolAnnotations, ToolLimits, ToolRate } from "../../../core/tool.ts";
import type { ScriptCache } from "../script-interface.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { parseDuration } from "./duration.ts";
import { parseChoice, type Fields } from "./parse-choice.ts";
import type { YamlPlace, YamlReader } from "./yaml-reader.ts";

const dayMs = 86_400_000;
const yearMs = 365 * dayMs;
const mostRetries = 10;

/** Reads what one call of a tool may use: `timeout`, `retries` and `rate`. What is wrong is reported and left out. */
export function parseLimits(
  reader: YamlReader,
  fields: Fields,
  annotations: ToolAnnotations | undefined,
): ToolLimits | undefined {
  const limits = withoutUndefined<ToolLimits>({
    limitMs: timeoutIn(reader, fields),
    retries: retriesIn(reader, fields, annotations),
    rate: rateIn(reader, fields),
  });
  return Object.keys(limits).length === 0 ? undefined : limits;
}

/** A number of seconds, or a text such as `500ms`, `30s`, `2m`. */
function timeoutIn(reader: YamlReader, fields: Fields): number | undefined {
  const place = fields.get("timeout");
  if (place === undefined) return undefined;
  const limitMs = parseDuration(place.value, dayMs);
  if (limitMs === undefined)
    reader.expect("seconds, or a text such as 500ms, 30s or 2m, of at most a day", "timeout", place);
  return limitMs;
}

/** What may not be run twice must not be tried twice. */
function retriesIn(
  reader: YamlReader,
  fields: Fields,
  { idempotent, readOnly }: ToolAnnotations = {},
): number | undefined {
  const place = fields.get("retries");
  if (place === undefined) return undefined;
  const { value } = place;
  if (!isWhole(value, 0) || value > mostRetries) {
    reader.expect(`a whole number from 0 to ${mostRetries}`, "retries", place);
    return undefined;
  }
  if (value === 0 || idempotent === true || readOnly === true) return value;
  reader.report(
    "manifest-invalid",
    'Cannot use "retries": the tool is neither idempotent nor read-only, so it must not be run twice',
    place,
    "If it may be run twice, add annotations: { idempotent: true }, or { readOnly: true } if it changes nothing",
  );
  return undefined;
}

const rateText = /^(\d{1,15})\s+per\s+(\S.*)$/u;

/** `100 per 1m`, or a map that can also have a `burst`. */
function rateIn(reader: YamlReader, fields: Fields): ToolRate | undefined {
  const place = fields.get("rate");
  if (place === undefined) return undefined;
  const { value } = place;
  if (isSchemaObject(value)) return rateInMap(reader, place);
  const [, digits, per = ""] = (typeof value === "string" ? rateText.exec(value) : null) ?? [];
  const inMs = parseDuration(per, yearMs);
  const calls = Number(digits);
  if (calls > 0 && inMs !== undefined) return { calls, inMs };
  reader.expect("a text such as 100 per 1m, or { calls: 100, per: 1m, burst: 10 }", "rate", place);
  return undefined;
}

function rateInMap(reader: YamlReader, place: YamlPlace): ToolRate | undefined {
  reader.refuseUnknown(place, ["calls", "per", "burst"], "of the rate");
  const inner = fieldsOf(place);
  refuseMissing(reader, place, { of: "rate", needed: ["calls", "per"] });
  const calls = countIn(reader, inner, "calls");
  const inMs = timeIn(reader, inner, "per");
  const burst = countIn(reader, inner, "burst");
  if (calls === undefined || inMs === undefined) return undefined;
  // A rate without its burst would be another one.
  if (burst === undefined && inner.has("burst")) return undefined;
  return withoutUndefined<ToolRate>({ calls, inMs, burst });
}

/** Reads how long outputs are used again: `10m`, or a map that can also have `tags` and a `scope`. */
export function parseCache(reader: YamlReader, fields: Fields): ScriptCache | undefined {
  const place = fields.get("cache");
  if (place === undefined) return undefined;
  if (isSchemaObject(place.value)) return cacheInMap(reader, place);
  const ttlMs = parseDuration(place.value, yearMs);
  if (ttlMs !== undefined) return { ttlMs };
  reader.expect("a time such as 30s, 10m or 1d, of at most a year, or { for: 10m }", "cache", place);
  return undefined;
}

function cacheInMap(reader: YamlReader, place: YamlPlace): ScriptCache | undefined {
  reader.refuseUnknown(place, ["for", "tags", "scope"], "of the cache");
  const inner = fieldsOf(place);
  refuseMissing(reader, place, { of: "cache", needed: ["for"] });
  const ttlMs = timeIn(reader, inner, "for");
  const tags = tagsIn(reader, inner.get("tags"));
  const scope = parseChoice(reader, inner, "scope", ["user", "everybody"] as const);
  if (ttlMs === undefined) return undefined;
  return withoutUndefined<ScriptCache>({ ttlMs, tags, scope });
}

function tagsIn(reader: YamlReader, place: YamlPlace | undefined): readonly string[] | undefined {
  if (place === undefined) return undefined;
  const { value } = place;
  if (!Array.isArray(value)) {
    reader.expect("a list of words", "tags", place);
    return undefined;
  }
  const wrong = place.items().filter((item) => !isName(item.value));
  for (const item of wrong) reader.expect(nameRule, "tags", item);
  return wrong.length === 0 ? value.filter(isName) : undefined;
}

function fieldsOf(place: YamlPlace): Fields {
  return new Map(place.entries().map((entry) => [entry.key, entry.place]));
}

function refuseMissing(
  reader: YamlReader,
  place: YamlPlace,
  { of, needed }: { readonly of: string; readonly needed: readonly string[] },
): void {
  const keys = new Set(place.entries().map(({ key }) => key));
  for (const key of needed.filter((one) => !keys.has(one))) {
    const cure = key === "calls" ? "Add calls: 100" : `Add ${key}: 10m`;
    reader.report("manifest-invalid", `Cannot use ${quote(of)}: it has no ${quote(key)}`, place, cure);
  }
}

function countIn(reader: YamlReader, fields: Fields, key: string): number | undefined {
  const place = fields.get(key);
  if (place === undefined) return undefined;
  if (isWhole(place.value, 1)) return place.value;
  reader.expect("a whole number above 0", key, place);
  return undefined;
}

function timeIn(reader: YamlReader, fields: Fields, key: string): number | undefined {
  const place = fields.get(key);
  if (place === undefined) return undefined;
  const ms = parseDuration(place.value, yearMs);
  if (ms === undefined) reader.expect("a time such as 30s, 10m or 1d, of at most a year", key, place);
  return ms;
}

function isWhole(value: JsonValue, min: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min;
}
