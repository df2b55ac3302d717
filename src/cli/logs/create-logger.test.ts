import fc from "fast-check";
import { expect, test } from "vitest";

import { createRedactor } from "../../core/redactor.ts";
import { allKinds } from "../../core/redaction/pattern-redactor.ts";
import { withPatterns } from "../../core/redaction/redact.ts";
import { createLogger, type LoggerOptions } from "./create-logger.ts";

test("createLogger() writes one JSON object a line for a program", () => {
  const { logger, text } = create({ isWatched: false });

  logger.log("info", "call ends", { tool: "add", call: "a-1", trace: undefined, durationMs: 1.5 });

  expect(text()).toBe(
    '{"time":"2026-03-02T12:00:00.123Z","level":"info","message":"call ends","tool":"add","call":"a-1","durationMs":1.5}\n',
  );
});

test("createLogger() writes readable lines for a person", () => {
  const { logger, text } = create({ isWatched: true });

  logger.log("error", "call fails", { tool: "geo/place", call: "a-1", reason: "no such place", data: { a: [1] } });
  logger.log("info", "nothing more");

  expect(text()).toBe(
    [
      '12:00:00.123 ERROR call fails tool=geo/place call=a-1 reason="no such place" data={"a":[1]}',
      "12:00:00.123 INFO nothing more",
      "",
    ].join("\n"),
  );
});

test("createLogger() writes only what is important enough", () => {
  const { logger, text } = create({ level: "warn", isWatched: true });

  for (const level of ["debug", "info", "warn", "error"] as const) logger.log(level, `a ${level}`);

  expect(text()).toBe("12:00:00.123 WARN a warn\n12:00:00.123 ERROR a error\n");
});

test("createLogger() writes nothing when it is off", () => {
  const { logger, text } = create({ level: "off" });

  logger.log("error", "nobody reads this");

  expect(text()).toBe("");
});

test("createLogger() lets no text make a line of its own, or speak to a terminal", () => {
  const hostile = '\r\n{"level":"error","message":"forged"}\n\u001B[2J\u009B31m\u2028\u202E\u0000\u{E0001}';
  for (const isWatched of [true, false]) {
    const { logger, text } = create({ isWatched });

    logger.log("info", hostile, { tool: hostile, [hostile]: hostile, list: [hostile] });

    expect(text().match(/\n/gu)).toHaveLength(1);
    expect(text().slice(0, -1)).not.toMatch(/[\p{Cc}\u2028\u202E]/u);
  }
});

test("createLogger() writes JSON that says what was said, whatever it was", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.dictionary(fc.string(), fc.string({ unit: "binary" })),
      (message, fields) => {
        const { logger, text } = create({ isWatched: false, redactor: nothing });

        logger.log("info", message, { data: fields });

        expect(text().indexOf("\n")).toBe(text().length - 1);
        expect(JSON.parse(text())).toMatchObject({ message, level: "info" });
      },
    ),
  );
});

test("createLogger() does not let a field replace what makes a line", () => {
  const { logger, text } = create({ isWatched: false });

  logger.log("info", "real", { level: "error", message: "forged", time: "never", ["__proto__"]: "x" });

  expect(JSON.parse(text())).toMatchObject({ level: "info", message: "real", time: "2026-03-02T12:00:00.123Z" });
});

test("createLogger() takes out secrets and personal data, also by the name of a field", () => {
  const secret = ["correct", "horse", "battery"].join("-");
  const { logger, text } = create({
    isWatched: false,
    redactor: withPatterns(createRedactor({ KEY: secret }), allKinds),
  });

  logger.log("info", `mail to ada@example.com with ${secret}`, { password: "plain words", note: [secret] });

  expect(JSON.parse(text())).toMatchObject({
    message: "mail to [email] with [KEY]",
    password: "[secret]",
    note: ["[KEY]"],
  });
});

const nothing = { text: (text: string) => text, value: <Value>(value: Value) => value };

function create(options: Partial<LoggerOptions>): { logger: ReturnType<typeof createLogger>; text: () => string } {
  const lines: string[] = [];
  const now = (): Date => new Date("2026-03-02T12:00:00.123Z");
  const logger = createLogger({ level: "debug", isWatched: true, write: (line) => lines.push(line), now, ...options });
  return { logger, text: () => lines.join("") };
}
