import { usageError } from "../usage-error.ts";

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * Reads since when something is to be shown: `90s`, `15m`, `24h`, `7d`, `4w`, a date, or `all`; in milliseconds since 1970.
 *
 * @throws {KitbagError} `usage-invalid` for anything else.
 */
export function parseSince(text: string, now: number): number {
  if (text === "all") return 0;
  const [, count, unit = ""] = /^(\d{1,6})([smhdw])$/u.exec(text) ?? [];
  if (count !== undefined) return Math.max(0, now - Number(count) * (units[unit] ?? 0));
  const date = /^\d{4}-\d{2}-\d{2}/u.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(date)) return date;
  throw usageError(
    `Cannot use --since ${JSON.stringify(text)}: expected a time like 90s, 15m, 24h, 7d or 4w, a date, or all`,
  );
}
