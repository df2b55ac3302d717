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
  const [first = "", second = "", third = "", fourth = ""] = words;
  const isDayFirst = dayOf(first) !== undefined;
  const skip = isDayFirst && second === "of" ? 1 : 0;
  const day = isDayFirst ? dayOf(first) : dayOf(second);
  const month = monthOf(isDayFirst ? (skip === 1 ? third : second) : first);
  if (day === undefined || month === undefined) return undefined;
  const yearAt = 2 + skip;
  const gap = words[yearAt] === "," ? 1 : 0;
  const written = /^\d{4}$/u.test(words[yearAt + gap] ?? "") ? words[yearAt + gap] : undefined;
  // "May 3" without a year is in this year, if anybody knows which one that is.
  const year = written ?? today?.slice(0, 4);
  const count = written === undefined ? yearAt : yearAt + gap + 1;
  // "may" is a word of its own: it needs a year, or a day behind it.
  if (month === 5 && first === "may" && written === undefined && fourth === "") return undefined;
  return year === undefined ? { count } : { iso: `${year}-${pad(month)}-${pad(day)}`, count };
}

function parseRelativeDate(words: readonly string[], today: string | undefined): SpokenDate | undefined {
  const [first = "", second = "", third = ""] = words;
  const from = (count: number, shift: number, unit = "day"): SpokenDate =>
    today === undefined ? { count } : { iso: shiftDate(today, shift, unit), count };
  if (first === "today" || first === "now") return first === "today" ? from(1, 0) : undefined;
  if (first === "tomorrow") return from(1, 1);
  if (first === "yesterday") return from(1, -1);
  if (first === "the" && second === "day" && words[4] === "tomorrow" && third === "after") return from(4, 2);
  if (first === "next" || first === "last" || first === "this" || first === "on" || first === "coming") {
    const shift = first === "last" ? -1 : first === "next" ? 1 : 0;
    const unit = unitOf(second);
    if (unit !== undefined && first !== "on" && first !== "this") return from(2, shift, unit);
    const day = weekdays.indexOf(second);
    if (day !== -1) return toWeekday(day, shift, today, 2);
  }
  const weekday = weekdays.indexOf(first);
  if (weekday !== -1) return toWeekday(weekday, 0, today, 1);
  const amount = /^\d{1,4}$/u.test(first) ? Number(first) : first === "a" || first === "an" ? 1 : undefined;
  if (amount !== undefined && unitOf(second) !== undefined && third === "ago") return from(3, -amount, unitOf(second));
  const later = /^\d{1,4}$/u.test(second) ? Number(second) : second === "a" || second === "an" ? 1 : undefined;
  if (first === "in" && later !== undefined && unitOf(third) !== undefined) return from(3, later, unitOf(third));
  return undefined;
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
