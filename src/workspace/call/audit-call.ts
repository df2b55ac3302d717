import { patternRedactor, allKinds } from "../../core/redaction/pattern-redactor.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { AuditBegin, AuditEnd } from "../../store/audit/audit-entry.ts";
import type { Audit } from "../../store/audit/open-audit.ts";
import type { Entry } from "../entry.ts";
import { toolDigest } from "../tool-digest.ts";
import type { Call } from "./call.ts";

/** What the audit says of a call that begins. What it was given is there as a digest only. */
export async function toAuditBegin(call: Call, audit: Audit): Promise<AuditBegin> {
  const { resolution, parentId, user, copy } = call;
  return {
    type: "begin",
    call: call.id,
    ...(parentId !== undefined && { parent: parentId }),
    ...(user !== undefined && { user: show(call, user), userDigest: audit.digest(user) }),
    tool: show(call, call.address),
    ...(resolution.ok && (await describeTool(call, resolution.entry))),
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

type ToolFacts = Pick<AuditBegin, "version" | "toolDigest" | "permissions" | "sandbox">;

async function describeTool(call: Call, entry: Entry): Promise<ToolFacts> {
  const { tool } = entry;
  const sandbox = await findSandbox(call, entry);
  return {
    ...(tool.version !== undefined && { version: tool.version }),
    toolDigest: toolDigest(tool),
    permissions: tool.permissions,
    ...(sandbox !== undefined && { sandbox }),
  };
}

/** What holds the tool to its permissions. Nothing is started for a tool that cannot be called. */
async function findSandbox({ host, holder }: Call, entry: Entry): Promise<string | undefined> {
  const runtime = host.runtimes.get(entry.tool.code.kind);
  if (runtime?.describe === undefined) return "none";
  if (!host.registry.isAvailableTo(holder, entry)) return undefined;
  try {
    return (await runtime.describe(entry.tool)).sandbox;
  } catch {
    // A runtime that cannot say it cannot run the tool either, and that outcome says why.
    return undefined;
  }
}

/** A text without the secrets, and without what looks like one or like personal data: nothing of the kind enters the audit. */
function show({ redactor }: Call, text: string): string {
  return patternRedactor(allKinds).text(redactor === undefined ? text : redactor.text(text));
}
