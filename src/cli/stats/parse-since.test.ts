import { expect, test } from "vitest";

import { parseSince } from "../commands/stats.ts";

const now = Date.parse("2026-03-02T12:00:00Z");

test.for([
  ["90s", "2026-03-02T11:58:30.000Z"],
  ["15m", "2026-03-02T11:45:00.000Z"],
  ["24h", "2026-03-01T12:00:00.000Z"],
  ["7d", "2026-02-23T12:00:00.000Z"],
  ["4w", "2026-02-02T12:00:00.000Z"],
  ["2026-03-01", "2026-03-01T00:00:00.000Z"],
  ["2026-03-01T08:00:00Z", "2026-03-01T08:00:00.000Z"],
  ["all", "1970-01-01T00:00:00.000Z"],
  ["999999w", "1970-01-01T00:00:00.000Z"],
])("parseSince() reads %s", ([text = "", expected]) => {
  expect(new Date(parseSince(text, now)).toISOString()).toBe(expected);
});

test.for(["", "24", "h", "-1h", "1.5h", "1y", "yesterday", "2026-13-45", "__proto__", "9999999s"])(
  "parseSince() refuses %j",
  (text) => {
    expect(() => parseSince(text, now)).toThrow(/Cannot use --since/u);
  },
);
