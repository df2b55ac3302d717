import { patternRedactor, defaultKinds } from "../../core/redaction/pattern-redactor.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { Tool } from "../../core/tool.ts";
import type { AuditBegin, AuditEnd } from "../../records/audit/audit-entry.ts";
import type { Audit } from "../../records/audit/open-audit.ts";
import type { Entry } from "../registry/registered-tool.ts";
import { toolDigest } from "../registry/tool-digest.ts";
import type { Call } from "./call.ts";

/** What the audit says of a call that begins. What it was given is there as a digest only. */
export function toAuditBegin(call: Call, audit: Audit): AuditBegin | Promise<AuditBegin> {
  const { resolution } = call;
  const sandbox = resolution.ok ? findSandbox(call, resolution.entry) : undefined;
  // Most tools need not be asked about, and to wait for nothing costs a good part of what the audit does.
  return typeof sandbox === "object"
    ? sandbox.then((found) => toBegin(call, audit, found))
    : toBegin(call, audit, sandbox);
}

function toBegin(call: Call, audit: Audit, sandbox: string | undefined): AuditBegin {
  const { tool, parentId, user, copy } = call;
  return {
    type: "begin",
    call: call.id,
    ...(parentId !== undefined && { parent: parentId }),
    ...(user !== undefined && { user: show(call, user), userDigest: audit.digest(user) }),
    tool: show(call, call.address),
    ...(tool !== undefined && {
      ...(tool.version !== undefined && { version: tool.version }),
      toolDigest: toolDigest(tool),
      permissions: tool.permissions,
      ...(sandbox !== undefined && { sandbox }),
    }),
    ...(copy.ok && { inputDigest: audit.digest(copy.value) }),
    time: Date.now(),
  };
}

/** What the audit says of a call that is over. */
export function toAuditEnd(call: Call, outcome: ToolOutcome, audit: Audit): AuditEnd {
  const handedOver = outcome.status === "ok" ? (call.recorded ?? outcome) : outcome;
  return {
    type: "end",
    call: call.id,
    status: outcome.status,
    ran: call.ran,
    ...(call.attempts > 1 && { attempts: call.attempts }),
    durationMs: Math.round(performance.now() - call.startedAt),
    ...(handedOver.status === "ok"
      ? { outputDigest: audit.digest(handedOver.output) }
      : { code: handedOver.error.code }),
    ...(outcome.status === "ok" && outcome.recalled !== undefined && { recalled: outcome.recalled }),
    time: Date.now(),
  };
}

/** What holds the tool to its permissions. Nothing is started for a tool that cannot be called. */
function findSandbox({ host, holder }: Call, entry: Entry): string | undefined | Promise<string | undefined> {
  const runtime = host.runtimes.get(entry.tool.code.kind);
  if (!isDescribing(runtime)) return "none";
  return host.registry.isAvailableTo(holder, entry) ? describeSandbox(runtime, entry.tool) : undefined;
}

type DescribingRuntime = Runtime & Required<Pick<Runtime, "describe">>;

function isDescribing(runtime: Runtime | undefined): runtime is DescribingRuntime {
  return runtime?.describe !== undefined;
}

async function describeSandbox(runtime: DescribingRuntime, tool: Tool): Promise<string | undefined> {
  try {
    return (await runtime.describe(tool)).sandbox;
  } catch {
    // A runtime that cannot say it cannot run the tool either, and that outcome says why.
    return undefined;
  }
}

/** A text without the secrets, and without what looks like one or like personal data: nothing of the kind enters the audit. */
function show({ redactor }: Call, text: string): string {
  return patternRedactor(defaultKinds).text(redactor === undefined ? text : redactor.text(text));
}
