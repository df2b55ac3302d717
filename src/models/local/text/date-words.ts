const months = "january february march april may june july august september october november december".split(" ");
const weekdays = "sunday monday tuesday wednesday thursday friday saturday".split(" ");

const dayMs = 86_400_000;

/** Something that names a day, and how many words it took. `iso` is missing if it depends on a day that nobody told. */
export interface SpokenDate {
  readonly iso?: string;
  readonly count: number;
}

/** Reads a date in words at the beginning of `words`: "3 May 2026", "May 3rd, 2026", "next friday", "in 3 days", "two weeks ago". */
export function parseSpokenDate(words: readonly string[], today: string | undefined): SpokenDate | undefined {
  return parseCalendarDate(words, today) ?? parseRelativeDate(words, today);
}

function parseCalendarDate(words: readonly string[], today: string | undefined): SpokenDate | undefined {
  const [first = "", second = "", third = ""] = words;
  const isOf = second === "of";
  const dayFirst = { day: dayOf(first), month: monthOf(isOf ? third : second), next: isOf ? 3 : 2 };
  const found = dayFirst.day === undefined ? { day: dayOf(second), month: monthOf(first), next: 2 } : dayFirst;
  const { day, month, next } = found;
  if (day === undefined || month === undefined) return undefined;
  const gap = words[next] === "," ? 1 : 0;
  const written = /^\d{4}$/u.exec(words[next + gap] ?? "")?.[0];
  // "May 3" without a year is in this year, if anybody knows which one that is.
  const year = written ?? today?.slice(0, 4);
  const count = written === undefined ? next : next + gap + 1;
  return year === undefined ? { count } : { iso: `${year}-${pad(month)}-${pad(day)}`, count };
}

/** How far a word moves the day. */
const dayShifts = new Map([
  ["today", 0],
  ["tomorrow", 1],
  ["yesterday", -1],
]);

function parseRelativeDate(words: readonly string[], today: string | undefined): SpokenDate | undefined {
  const [first = "", second = "", third = ""] = words;
  const from = (count: number, shift: number, unit = "day"): SpokenDate =>
    today === undefined ? { count } : { iso: shiftDate(today, shift, unit), count };
  const shift = dayShifts.get(first);
  if (shift !== undefined) return from(1, shift);
  const weekday = parseWeekday(words, today);
  if (weekday !== undefined) return weekday;
  const unit = unitOf(second);
  if (unit !== undefined && (first === "next" || first === "last")) return from(2, first === "last" ? -1 : 1, unit);
  const ago = amountOf(first);
  if (ago !== undefined && unit !== undefined && third === "ago") return from(3, -ago, unit);
  const later = amountOf(second);
  return first === "in" && later !== undefined && unitOf(third) !== undefined
    ? from(3, later, unitOf(third))
    : undefined;
}

function amountOf(word: string): number | undefined {
  if (word === "a" || word === "an") return 1;
  return /^\d{1,4}$/u.test(word) ? Number(word) : undefined;
}

function parseWeekday([first = "", second = ""]: readonly string[], today: string | undefined): SpokenDate | undefined {
  const isLed = /^(?:next|last|this|on|coming)$/u.test(first);
  const day = weekdays.indexOf(isLed ? second : first);
  return day === -1 ? undefined : toWeekday(day, first === "last" ? -1 : 0, today, isLed ? 2 : 1);
}

function toWeekday(day: number, shift: number, today: string | undefined, count: number): SpokenDate {
  if (today === undefined) return { count };
  const now = new Date(`${today}T00:00:00Z`).getUTCDay();
  const ahead = (day - now + 7) % 7 || 7;
  return { iso: shiftDate(today, shift === -1 ? ahead - 7 : ahead, "day"), count };
}

/** Moves an ISO date. The last day of a month stays inside the month. */
export function shiftDate(date: string, amount: number, unit: string): string {
  const start = new Date(`${date.slice(0, 10)}T00:00:00Z`);
  if (Number.isNaN(start.getTime())) return date;
  if (unit === "day" || unit === "week") {
    return toIso(new Date(start.getTime() + amount * dayMs * (unit === "week" ? 7 : 1)));
  }
  const shift = unit === "year" ? amount * 12 : amount;
  const moved = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + shift, 1));
  const lastDay = new Date(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0)).getUTCDate();
  moved.setUTCDate(Math.min(start.getUTCDate(), lastDay));
  return toIso(moved);
}

function toIso(date: Date): string {
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 10);
}

function unitOf(word: string): string | undefined {
  return /^(day|week|month|year)s?$/u.exec(word)?.[1];
}

function dayOf(word: string): number | undefined {
  const [, digits] = /^(\d{1,2})(?:st|nd|rd|th)?$/u.exec(word) ?? [];
  const day = Number(digits);
  return day >= 1 && day <= 31 ? day : undefined;
}

function monthOf(word: string): number | undefined {
  const name = word.replace(/\.$/u, "");
  if (name.length < 3) return undefined;
  const index = months.findIndex(
    (month) => month === name || month.slice(0, 3) === name || (name === "sept" && month === "september"),
  );
  return index === -1 ? undefined : index + 1;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
