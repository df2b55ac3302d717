import type { JsonValue } from "../../../core/json.ts";
import { toWord } from "../to-argv.ts";

/** The longest first, so that a time is written with the largest unit that fits. */
const units: readonly (readonly [name: string, ms: number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
];

const grammar = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$/u;

/** Reads a number of seconds, or a text such as `500ms`, `30s`, `2m`, as milliseconds from 1 to `maxMs`; anything else is no time. */
export function parseDuration(value: JsonValue, maxMs: number): number | undefined {
  const [, digits, unit = "s"] = grammar.exec(toWord(value)) ?? [];
  const [, unitMs = Number.NaN] = units.find(([name]) => name === unit) ?? [];
  const ms = digits === undefined ? 0 : Math.round(Number(digits) * unitMs);
  return ms > 0 && ms <= maxMs ? ms : undefined;
}

/** Writes a whole number of milliseconds as {@link parseDuration} reads it: `10m`. */
export function toDuration(ms: number): string {
  const [name, unitMs] = units.find(([, length]) => ms % length === 0) ?? ["ms", 1];
  return `${ms / unitMs}${name}`;
}
