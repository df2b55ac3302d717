import { inputRequired } from "@modelcontextprotocol/server";

import { cutText } from "../../../core/cut-text.ts";
import { isKitbagError, toFailure } from "../../../core/errors.ts";
import { toVisibleText } from "../../../core/hidden-characters.ts";
import { isRecord, type JsonValue } from "../../../core/json.ts";
import type { OkOutcome, ToolOutcome } from "../../../core/outcome.ts";
import { localUser } from "../../../core/scopes.ts";
import { localCaller } from "../../../gate/access/token-check.ts";
import type { WaitingTool } from "../../../forge/forge-interface.ts";
import { describeAsking } from "../../../forge/permissions-beyond.ts";
import { toOutput } from "../../../forge/tools/to-output.ts";
import type { ServedClient } from "../client.ts";
import type { AskClient } from "./ask-client.ts";
import { approvalForm, toDecision, toUnanswered } from "./ask-person.ts";
import { UnansweredError } from "./pausable-call.ts";

/**
 * Asks the person at the client about a draft that a call has left waiting, because it wants more than the policy grants. Only the local
 * user is asked: the permissions are those of this machine. What they do not decide goes on waiting.
 */
export async function askAboutDraft(
  client: Pick<ServedClient, "forge" | "caller">,
  { outcome, since }: { readonly outcome: ToolOutcome; readonly since: number },
  ask: AskClient,
): Promise<ToolOutcome> {
  const waiting = findDraft(client, outcome, since);
  if (waiting === undefined || outcome.status !== "ok" || client.forge === undefined) return outcome;
  const question = inputRequired.elicit({ message: renderDraft(waiting), requestedSchema: approvalForm });
  const answers = await ask({ draft: question }).catch(toUnanswered);
  const answer = answers instanceof UnansweredError ? {} : (answers["draft"] ?? {});
  if (answer["action"] !== "accept" && answer["action"] !== "decline") return outcome;
  const decided = toDecision(answer);
  if (decided.decision === "approve") return approve(client.forge, waiting, outcome);
  await client.forge.deny(waiting.id);
  const next = `${decided.reason}. Nothing of it is live; make it with fewer permissions`;
  return withOutput(outcome, { status: "denied", name: waiting.name, next });
}

type Forge = NonNullable<ServedClient["forge"]>;

/** Only a draft of this very call: a tool could name another one in its output. */
function findDraft(
  { forge, caller }: Pick<ServedClient, "forge" | "caller">,
  outcome: ToolOutcome,
  since: number,
): WaitingTool | undefined {
  // Without tokens any program of this machine may call: none of them is known to be the user's.
  if (forge === undefined || caller.id !== localUser || caller === localCaller) return undefined;
  if (outcome.status !== "ok") return undefined;
  const { output } = outcome;
  if (!isRecord(output) || output["status"] !== "waiting") return undefined;
  return forge.listWaiting().find(({ id, at }) => id === output["id"] && at >= since);
}

async function approve(forge: Forge, { id }: WaitingTool, outcome: OkOutcome): Promise<ToolOutcome> {
  try {
    return withOutput(outcome, toOutput(await forge.approve(id)));
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    return { ...outcome, status: "failed", error: toFailure(cause.code, cause.details) };
  }
}

function withOutput(outcome: OkOutcome, output: JsonValue): OkOutcome {
  return { ...outcome, output };
}

const longestDescription = 300;

function renderDraft(waiting: WaitingTool): string {
  const { id, makes, name, description, from } = waiting;
  const what = from === undefined ? `The new ${makes} ${name}` : `The change of the ${makes} ${name} (${from} is live)`;
  const about = cutText(description, longestDescription);
  return toVisibleText(
    `${what} ${describeAsking(waiting)}. Agree?\n${about}\n\nNothing of it has run. To read it first: kitbag approvals show ${id}`,
  );
}
