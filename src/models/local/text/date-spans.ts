import type { Token } from "./token.ts";

/** Days that a request speaks of, and where what it says ends. */
export interface DaySpan {
  readonly first: string;
  readonly last: string;
  readonly to: number;
}

/** Reads "today", "this week", "last month" at a place; `undefined` if there is no such thing, or nobody told which day it is. */
export function spanOfDays(tokens: readonly Token[], at: number, today: string | undefined): DaySpan | undefined {
  const token = tokens[at];
  if (token === undefined) return undefined;
  const isDate = token.kind === "date";
  const to = isDate ? at + 1 : at + 2;
  const words = isDate ? token.text : `${token.text} ${tokens[at + 1]?.text ?? ""}`;
  const [, which = "", unit = ""] = /^(this|next|last|past|current)\s(week|month|year)$/iu.exec(words) ?? [];
  if (unit !== "") return today === undefined ? undefined : { ...spanOf(today, shiftOf(which), unit), to };
  const day = isDate && typeof token.value === "string" ? token.value : "";
  return /^\d{4}-\d{2}-\d{2}$/u.test(day) ? { first: day, last: day, to } : undefined;
}

function shiftOf(which: string): number {
  return /^(?:last|past)$/iu.test(which) ? -1 : /^next$/iu.test(which) ? 1 : 0;
}

const dayMs = 86_400_000;

/** A week begins on Monday. */
function spanOf(today: string, shift: number, unit: string): { first: string; last: string } {
  const now = new Date(`${today.slice(0, 10)}T00:00:00Z`);
  const year = now.getUTCFullYear();
  const month = now.getUTCMonth();
  if (unit.toLowerCase() === "week") {
    const monday = now.getTime() - ((now.getUTCDay() + 6) % 7) * dayMs + shift * 7 * dayMs;
    return { first: toIso(monday), last: toIso(monday + 6 * dayMs) };
  }
  if (unit.toLowerCase() === "month")
    return { first: toIso(Date.UTC(year, month + shift, 1)), last: toIso(Date.UTC(year, month + shift + 1, 0)) };
  return { first: `${year + shift}-01-01`, last: `${year + shift}-12-31` };
}

function toIso(time: number): string {
  return Number.isNaN(time) ? "" : new Date(time).toISOString().slice(0, 10);
}
