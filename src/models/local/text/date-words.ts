const months = "january february march april may june july august september october november december".split(" ");
const weekdays = "sunday monday tuesday wednesday thursday friday saturday".split(" ");

const dayMs = 86_400_000;

/** Something that names a day, and how many words it took. `iso` is missing if it depends on a day that nobody told. */
export interface SpokenDate {
  readonly iso?: string;
  readonly count: number;
  /** Whether the year is only the one that it is now. */
  readonly isYearOpen?: boolean;
}

/** Reads a date in words at the beginning of `words`: "3 May 2026", "May 3rd, 2026", "next friday", "in 3 days", "two weeks ago". */
export function parseSpokenDate(words: readonly string[], today: string | undefined): SpokenDate | undefined {
  return parseCalendarDate(words, today) ?? parseRelativeDate(words, today);
}

function parseCalendarDate(words: readonly string[], today: string | undefined): SpokenDate | undefined {
  const [first = "", second = "", third = ""] = words;
  const isOf = second === "of";
  const isDayFirst = dayOf(first) !== undefined;
  const day = dayOf(isDayFirst ? first : second);
  const month = monthOf(isDayFirst ? (isOf ? third : second) : first);
  return day === undefined || month === undefined
    ? undefined
    : addYear(words, isDayFirst && isOf ? 3 : 2, `-${pad(month)}-${pad(day)}`, today);
}

/** "May 3" without a year is in this year, if anybody knows which one that is. */
function addYear(words: readonly string[], next: number, rest: string, today: string | undefined): SpokenDate {
  const gap = words[next] === "," ? 1 : 0;
  const written = /^\d{4}$/u.exec(words[next + gap] ?? "")?.[0];
  const year = written ?? today?.slice(0, 4);
  const count = written === undefined ? next : next + gap + 1;
  return year === undefined ? { count } : { iso: `${year}${rest}`, count, isYearOpen: written === undefined };
}

/** How far a word moves the day. */
const dayShifts = new Map([
  ["today", 0],
  ["tonight", 0],
  ["tomorrow", 1],
  ["yesterday", -1],
]);

function parseRelativeDate(words: readonly string[], today: string | undefined): SpokenDate | undefined {
  const weekday = parseWeekday(words, today);
  const found = weekday === undefined ? parseShift(words) : undefined;
  if (found === undefined) return weekday;
  return today === undefined
    ? { count: found.count }
    : { iso: shiftDate(today, found.amount, found.unit), count: found.count };
}

interface Shift {
  readonly amount: number;
  readonly unit: string;
  readonly count: number;
}

function parseShift(words: readonly string[]): Shift | undefined {
  const [first = "", second = "", third = ""] = words;
  const beyond = first === "the" ? parseBeyond(words.slice(1), 1) : parseBeyond(words, 0);
  if (beyond !== undefined) return beyond;
  const days = dayShifts.get(first);
  if (days !== undefined) return { amount: days, unit: "day", count: 1 };
  const unit = unitOf(second);
  if (unit !== undefined && (first === "next" || first === "last"))
    return { amount: first === "last" ? -1 : 1, unit, count: 2 };
  if (third === "ago") return toShift(amountOf(first), unit, -1);
  if (third === "from") return parseAhead(words);
  return first === "in" ? toShift(amountOf(second), unitOf(third), 1) : undefined;
}

/** "3 days from now" */
function parseAhead([first = "", second = "", , fourth = ""]: readonly string[]): Shift | undefined {
  const ahead = /^(?:now|today)$/u.test(fourth) ? toShift(amountOf(first), unitOf(second), 1) : undefined;
  return ahead === undefined ? undefined : { ...ahead, count: 4 };
}

/** "(the) day after tomorrow", "(the) day before yesterday". */
function parseBeyond([first, second, third]: readonly string[], skipped: number): Shift | undefined {
  if (first !== "day") return undefined;
  if (second === "after" && third === "tomorrow") return { amount: 2, unit: "day", count: skipped + 3 };
  const isBefore = second === "before" && third === "yesterday";
  return isBefore ? { amount: -2, unit: "day", count: skipped + 3 } : undefined;
}

function toShift(amount: number | undefined, unit: string | undefined, sign: number): Shift | undefined {
  return amount === undefined || unit === undefined ? undefined : { amount: sign * amount, unit, count: 3 };
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
  const days = shift === -1 ? -((now - day + 7) % 7 || 7) : (day - now + 7) % 7 || 7;
  return { iso: shiftDate(today, days, "day"), count };
}

/** Moves an ISO date. The last day of a month stays inside the month. */
function shiftDate(date: string, amount: number, unit: string): string {
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

const spokenDays = (
  "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth " +
  "seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth " +
  "twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
).split(" ");

function dayOf(word: string): number | undefined {
  const spoken = spokenDays.indexOf(word) + 1;
  if (spoken > 0) return spoken;
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
