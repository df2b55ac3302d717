import type { CallEvent } from "../../core/events.ts";
import { createRedactor } from "../../core/redactor.ts";
import { defaultKinds } from "../../core/redaction/pattern-redactor.ts";
import { withPatterns } from "../../core/redaction/with-patterns.ts";
import { getOpenTelemetry } from "../../workspace/telemetry/tracing.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Terminal } from "../terminal.ts";
import { createLogger, type LogFields, type Logger } from "./create-logger.ts";
import type { LogLevel } from "./log-level.ts";

/** What {@link logCalls} takes. */
export interface LogCallsOptions {
  readonly level: LogLevel;
  readonly terminal: Pick<Terminal, "note" | "isWatched">;
  /** Texts that nobody may read, by name. */
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
  "approval-request": ({ tool }) => ["debug", "somebody is asked for an approval", { tool }],
  "approval-granted": ({ changed }) => ["debug", "call is approved", { changed }],
  "approval-denied": ({ reason }) => ["warn", "call is denied", { reason }],
  "output-capped": ({ capped }) => ["debug", "output is kept, only its head is handed over", { ...capped }],
  "result-dropped": ({ tool, afterMs }) => ["warn", "tool ended after its call", { tool, afterMs }],
};

function describe(event: CallEvent): Described | undefined {
  return (descriptions[event.type] as ((event: CallEvent) => Described) | undefined)?.(event);
}

function describeEnd({ tool, outcome, durationMs, queuedMs }: Extract<CallEvent, { type: "call-end" }>): Described {
  const times = { durationMs: Number(durationMs.toFixed(3)), queuedMs };
  if (outcome.status === "ok") return ["info", "call ends", { tool, ...times, recalled: outcome.recalled }];
  return ["error", "call fails", { tool, ...times, code: outcome.error.code, reason: outcome.error.message }];
}
