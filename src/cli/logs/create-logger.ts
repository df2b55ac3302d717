import type { JsonValue } from "../../core/json.ts";
import { defaultKinds, patternRedactor, type PatternRedactor } from "../../core/redaction/pattern-redactor.ts";
import { toPrintableLine } from "../printable.ts";
import { logLevels, type LogLevel } from "../options.ts";
import type { CallEvent } from "../../core/events.ts";
import { createRedactor } from "../../core/redactor.ts";
import { withPatterns } from "../../core/redaction/redact.ts";
import { getOpenTelemetry } from "../../workspace/telemetry/tracing.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Terminal } from "../terminal.ts";

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
  /** Takes out secrets and personal data. @default what looks like a secret or like personal data */
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
  // Fields of a caller cannot replace time, level and message.
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

/** What {@link logCalls} takes. */
interface LogCallsOptions {
  readonly level: LogLevel;
  readonly terminal: Pick<Terminal, "note" | "isWatched">;
  /** Texts that must not be logged, by name. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Logs the calls of a workspace on standard error: readable for a person, as JSON for a program. */
export function logCalls(workspace: Pick<Workspace, "onEvent">, { level, terminal, secrets }: LogCallsOptions): void {
  const redactor = withPatterns(createRedactor(secrets), defaultKinds);
  const logger = createLogger({ level, write: terminal.note, isWatched: terminal.isWatched, redactor });
  /** Only the beginning of a call says whose it is. */
  const users = new Map<string, string>();
  workspace.onEvent((event) => {
    if (event.type === "call-start" && event.user !== undefined) users.set(event.call, event.user);
    logEvent(event, users.get(event.call), logger);
    if (event.type === "call-end") users.delete(event.call);
  });
}

/** Logs what happened in a call. Inputs and outputs are not in the log: the store has them. */
function logEvent(event: CallEvent, user: string | undefined, logger: Logger): void {
  const described = describe(event);
  if (described === undefined) return;
  const [level, message, fields] = described;
  const span = getOpenTelemetry()?.trace.getActiveSpan()?.spanContext();
  logger.log(level, message, { ...fields, user, call: event.call, trace: span?.traceId });
}

type Described = readonly [level: Parameters<Logger["log"]>[0], message: string, fields: LogFields];

/** What is said of each event; of those that are not here, nothing. */
const descriptions: {
  readonly [Type in CallEvent["type"]]?: (event: Extract<CallEvent, { type: Type }>) => Described;
} = {
  "call-start": ({ tool, version, parent }) => ["debug", "call begins", { tool, version, parent }],
  "call-end": describeEnd,
  "call-log": ({ message, data }) => ["debug", message, { data }],
  "call-retry": ({ attempt }) => ["warn", "call is tried again", { attempt }],
  "call-kept": ({ letter }) => ["warn", "call is kept, to be made again", { letter }],
  "tool-broken": ({ tool }) => ["error", "tool is taken out for a while", { tool }],
  "tool-mended": ({ tool }) => ["info", "tool is back", { tool }],
  "approval-request": ({ tool }) => ["debug", "an approval is asked for", { tool }],
  "approval-granted": ({ changed }) => ["debug", "call is approved", { changed }],
  "approval-denied": ({ reason }) => ["warn", "call is denied", { reason }],
  "output-capped": ({ capped }) => ["debug", "output is kept, only its head is handed over", { ...capped }],
  "result-dropped": ({ tool, afterMs }) => ["warn", "tool ended after its call", { tool, afterMs }],
};

function describe(event: CallEvent): Described | undefined {
  return (descriptions[event.type] as ((event: CallEvent) => Described) | undefined)?.(event);
}

function describeEnd({ tool, outcome, durationMs, queuedMs }: Extract<CallEvent, { type: "call-end" }>): Described {
  const files = outcome.files?.map(({ path, bytes }) => `${path} (${bytes} bytes)`);
  const times = { durationMs: Number(durationMs.toFixed(3)), queuedMs, ...(files !== undefined && { files }) };
  if (outcome.status === "ok") return ["info", "call ends", { tool, ...times, recalled: outcome.recalled }];
  return ["error", "call fails", { tool, ...times, code: outcome.error.code, reason: outcome.error.message }];
}
