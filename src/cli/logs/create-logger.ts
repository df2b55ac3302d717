import type { JsonValue } from "../../core/json.ts";
import { defaultKinds, patternRedactor, type PatternRedactor } from "../../core/redaction/pattern-redactor.ts";
import { toPrintableLine } from "../printable.ts";
import { logLevels, type LogLevel } from "./log-level.ts";

/** What a line says beside its words. The first four say what it belongs to. */
export interface LogFields {
  readonly run?: string | undefined;
  readonly call?: string | undefined;
  readonly parent?: string | undefined;
  readonly trace?: string | undefined;
  readonly [name: string]: JsonValue | undefined;
}

/** Writes down what happens, one line each. Never throws. */
export interface Logger {
  readonly level: LogLevel;
  log(level: Exclude<LogLevel, "off">, message: string, fields?: LogFields): void;
}

/** What {@link createLogger} takes. */
export interface LoggerOptions {
  readonly level: LogLevel;
  /** Takes a whole line. */
  readonly write: (line: string) => void;
  /** Lines are for a person; else each is one JSON object. */
  readonly isWatched: boolean;
  /** Takes out what nobody may read. @default what looks like a secret or like personal data */
  readonly redactor?: Pick<PatternRedactor, "text" | "value">;
  /** @default the clock */
  readonly now?: () => Date;
}

/**
 * Makes a logger. Whatever a text holds, it stays on its line and says nothing to a terminal, and secrets and personal data are
 * taken out before anything is written.
 */
export function createLogger({
  level: least,
  write,
  isWatched,
  redactor = patternRedactor(defaultKinds),
  now = () => new Date(),
}: LoggerOptions): Logger {
  const render = isWatched ? renderReadable : renderJson;
  return {
    level: least,
    log(level, message, fields = {}) {
      if (logLevels.indexOf(level) < logLevels.indexOf(least)) return;
      const time = now().toISOString();
      write(`${render({ time, level, message: redactor.text(message), fields: redactor.value(fields) })}\n`);
    },
  };
}

interface Line {
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** What a terminal or a reader of lines would take for more than a letter. */
const special = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function renderJson({ fields, ...frame }: Line): string {
  // What makes it a line of the log cannot be replaced by what somebody calls his fields.
  return JSON.stringify({ ...frame, ...fields, ...frame }).replaceAll(special, escapeUnits);
}

/** As JSON escapes: one number for each half of a character that takes two. */
function escapeUnits(text: string): string {
  return Array.from({ length: text.length }, (_, index) => {
    return `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }).join("");
}

function renderReadable({ time, level, message, fields }: Line): string {
  const facts = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${showValue(value)}`],
  );
  const clock = time.slice(11, 23);
  return toPrintableLine(`${clock} ${level.toUpperCase()} ${message}${facts.length > 0 ? `  ${facts.join(" ")}` : ""}`);
}

function showValue(value: JsonValue): string {
  const isPlain = typeof value === "string" && /^[\w./:@()-]+$/u.test(value);
  return isPlain ? value : JSON.stringify(value);
}
