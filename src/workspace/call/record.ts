import type { CallEnd, CallStart } from "../../core/events.ts";
import { cloneJson, type JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import type { PatternRedactor } from "../../core/redaction/pattern-redactor.ts";
import type { Audit } from "../../records/audit/open-audit.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Entry } from "../registry/registered-tool.ts";
import { toAuditBegin, toAuditEnd } from "./audit-call.ts";
import type { Call } from "./call.ts";
import { chargeCost } from "./paid-call.ts";
import { type Next, type Phase, redactFailure } from "./phase.ts";

/**
 * Tells subscribers, the store and the audit that the call begins and how it ended. A call that cannot be recorded does not run, as
 * soon as that is known. A listener that hears that a call begins hears that it ends, after all the calls inside it.
 */
export const record: Phase = async (call, next) => {
  const { calls, audit } = call.host;
  const isKept = calls !== undefined || audit !== undefined;
  const start = isKept || call.isHeard() ? toStart(call) : undefined;
  let unrecorded: Unrecorded | undefined;
  let begun: Promise<void> | undefined;
  if (isKept && start !== undefined) {
    const isAwaited = !beginsAtOnce(call);
    begun = keepStart(call, start).then((failed) => {
      unrecorded = failed;
      // It may wait for an approval, a place or a value, and has not run yet.
      if (failed !== undefined && !isAwaited && !call.ran) call.stop(toFailed(call, failed).error);
    });
    if (isAwaited) await begun;
  }
  // A copy, because it may not be recorded yet and a listener may change it.
  if (start !== undefined && call.isHeard())
    call.tell(cloneJson(start as unknown as JsonValue) as unknown as CallStart);
  if (unrecorded !== undefined) return tellEnd(call, toFailed(call, unrecorded));
  const outcome = await runToEnd(call, next);
  // An end without a beginning in the store would tell its readers nothing.
  const failed = isKept && unrecorded === undefined ? await keepEnd(call, outcome) : undefined;
  await begun;
  const reason = unrecorded ?? failed;
  return tellEnd(call, reason === undefined ? outcome : toFailed(call, reason));
};

/**
 * Whether to run before the beginning is recorded: a function of the program, with a store that kept the last beginning. Not with an
 * audit, which knows of everything that runs before it does. What is not a function takes longer than the wait.
 */
function beginsAtOnce({ host, tool }: Call): boolean {
  return host.audit === undefined && host.isStoreWorking && tool?.code.kind === "function";
}

/** Why something could not be recorded. */
interface Unrecorded {
  readonly cause: unknown;
}

function toFailed(call: Call, { cause }: Unrecorded): FailedOutcome {
  return redactFailure(call, call.fail("store-failed", { reason: describeThrown(cause), ran: call.ran }));
}

function tellEnd(call: Call, outcome: ToolOutcome): ToolOutcome {
  if (call.isHeard()) call.tell(toEnd(call, outcome));
  return outcome;
}

/** Runs what is inside, and waits for the calls that were left running there. */
async function runToEnd(call: Call, next: Next): Promise<ToolOutcome> {
  let outcome: ToolOutcome;
  try {
    outcome = await next();
  } catch (cause) {
    outcome = redactFailure(call, call.fail("call-crashed", { tool: call.address, reason: describeThrown(cause) }));
  }
  const childrenEnd = call.end();
  if (childrenEnd !== undefined) await childrenEnd;
  if (call.costUsd > 0) await chargeCost(call);
  return outcome;
}

function toStart(call: Call): CallStart {
  const { resolution, parentId, user, copy } = call;
  const start: CallStart = {
    type: "call-start",
    call: call.id,
    ...(parentId !== undefined && { parent: parentId }),
    ...(user !== undefined && { user }),
    ...(call.trace !== undefined && { trace: call.trace.id }),
    tool: call.address,
    ...(resolution.ok && describeEntry(resolution.entry)),
    // The check changes its copy in place, and the tool may do so too.
    input: copy.ok ? cloneJson(copy.value) : null,
    time: Date.now(),
  };
  return call.show(start) as CallStart;
}

function describeEntry({ tool, source, owner }: Entry): Pick<CallStart, "version" | "source" | "owner"> {
  return { ...(tool.version !== undefined && { version: tool.version }), source, owner };
}

/** The outcome has been through `redact`. */
function toEnd(call: Call, outcome: ToolOutcome): CallEnd {
  const { redactor } = call;
  const tool = redactor === undefined ? call.address : redactor.text(call.address);
  const recorded = outcome.status === "ok" ? (call.recorded ?? outcome) : outcome;
  const durationMs = performance.now() - call.startedAt;
  const { queuedMs, costUsd } = call;
  return {
    type: "call-end",
    call: call.id,
    tool,
    outcome: recorded,
    durationMs,
    ...(queuedMs > 0 && { queuedMs }),
    ...(costUsd > 0 && { costUsd }),
  };
}

function keepStart(call: Call, start: CallStart): Promise<Unrecorded | undefined> {
  const { audit } = call.host;
  // Without an audit it need not be on disk before the tool runs: the end takes it along.
  return keepBoth(call, start, audit && appendBegin(call, audit), audit !== undefined);
}

async function appendBegin(call: Call, audit: Audit): Promise<void> {
  const begin = toAuditBegin(call, audit);
  await audit.append(begin instanceof Promise ? await begin : begin);
}

function keepEnd(call: Call, outcome: ToolOutcome): Promise<Unrecorded | undefined> {
  const { audit } = call.host;
  return keepBoth(call, toEnd(call, outcome), audit?.append(toAuditEnd(call, outcome, audit)), true);
}

/** Both at once, so that a store can write them together. */
async function keepBoth(
  call: Call,
  event: CallStart | CallEnd,
  audited: Promise<void> | undefined,
  durable: boolean,
): Promise<Unrecorded | undefined> {
  const { host } = call;
  const { calls, recordRedactor } = host;
  // It may fail while the store is waited for.
  audited?.catch(ignore);
  try {
    if (calls !== undefined) {
      await calls.append(toRecord(event, recordRedactor), { durable });
      if (event.type === "call-start") host.isStoreWorking = true;
    }
    if (audited !== undefined) await audited;
    return undefined;
  } catch (cause) {
    host.isStoreWorking = false;
    return { cause };
  }
}

function ignore(): void {}

/** The event as it is recorded. The words and numbers that make it an event stay. */
function toRecord(event: CallStart | CallEnd, redactor: PatternRedactor | undefined): JsonValue {
  if (redactor === undefined) return event as unknown as JsonValue;
  return { ...event, tool: redactor.name(event.tool), ...redactor.value(pickShown(event)) } as unknown as JsonValue;
}

/** What came from outside. */
function pickShown(event: CallStart | CallEnd): object {
  if (event.type === "call-end") return { outcome: event.outcome };
  const { user, input } = event;
  return user === undefined ? { input } : { user, input };
}
