import type { ModelAnswered } from "../../agent/events.ts";
import { toResultPart } from "../../agent/run/to-assistant-message.ts";
import type { RunResult } from "../../agent/run-result.ts";
import { KitbagError } from "../../core/errors.ts";
import { showValue, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ModelMessage } from "../../models/model.ts";
import type { RunEntry } from "../../records/runs/run-records.ts";
import { renderMessages, renderPart, renderText } from "./render-messages.ts";
import { isRunFixture, sortOutcomes, toEnd, type RunFixture, type RunFixtureEnd } from "./run-fixture.ts";

/**
 * Writes a run as text for people and for snapshots: who said what, what was called and what came of it, how it ended. No id, time,
 * duration, token or cost is in it, so the same run is the same text.
 *
 * A result shows the whole conversation as it is at the end; a journal and a fixture also show what the agent itself said and why, and
 * where the memory was compacted.
 *
 * @throws {KitbagError} `option-invalid` for any other value.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool } from "kitbag";
 * import { createAgent } from "kitbag/agent";
 * import { mockModel, renderRun } from "kitbag/testing";
 *
 * const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => 4 });
 * const model = mockModel([{ calls: [{ tool: "roll" }] }, "You rolled a 4"]);
 * const agent = createAgent({ model, workspace: createWorkspace({ tools: [roll] }) });
 *
 * const text = renderRun(await agent.run("Roll a die"));
 * console.assert(text === "user: Roll a die\n  -> roll {}\n  <- roll 4\nassistant: You rolled a 4\n= ok");
 * ```
 */
export function renderRun(run: RunResult | RunFixture | readonly RunEntry[]): string {
  if (isRunFixture(run)) return [...renderEvents(run.events), renderEnd(run.end)].join("\n");
  if (Array.isArray(run)) {
    const values = (run as readonly RunEntry[]).map(({ value }) => value);
    return [...renderEvents(values), renderEnd(toEnd(values))].join("\n");
  }
  const { messages, ...end } = (run ?? {}) as RunResult;
  if (!Array.isArray(messages)) {
    const expected = "what run.result resolves to, a journal, or what recordRun made";
    throw new KitbagError("option-invalid", { option: "run", found: showRun(run), expected });
  }
  return [...renderMessages(messages), renderEnd(end)].join("\n");
}

function showRun(run: unknown): string {
  return run instanceof Promise ? "a promise that was not awaited" : showValue(run);
}

function renderEvents(events: readonly JsonObject[]): readonly string[] {
  const names = new Map<string, string>();
  return sortOutcomes(events).flatMap((event) => renderEvent(event, names));
}

/** `names` are those of the tools that were called, by `step.call`. */
function renderEvent(event: JsonObject, names: Map<string, string>): readonly string[] {
  switch (event["type"] as string) {
    case "task-start":
      return renderMessages(event["messages"] as unknown as readonly ModelMessage[]);
    case "model-answer":
      return renderAnswer(event as unknown as ModelAnswered, names);
    case "step-outcome": {
      const name = names.get(event["step"] as string) ?? "";
      return renderPart("tool", toResultPart("", name, event["output"] as unknown as ToolOutcome));
    }
    case "message-added":
      return renderMessages([event["message"] as unknown as ModelMessage]).map((line, index) =>
        index === 0 ? `(${event["reason"] as string}) ${line}` : line,
      );
    case "call-changed":
      return [`(changed) ${event["tool"] as string} ${JSON.stringify(event["input"])}`];
    case "memory-compacted":
      return [`(memory) ${(event["messages"] as readonly JsonValue[]).length} messages are left`];
    case "approval-asked":
      return [`(approval) ${event["tool"] as string} waits`];
    case "approval-decided":
      return renderText(`(approval) ${event["decision"] as string}`, (event["reason"] as string | undefined) ?? "");
    default:
      return [];
  }
}

function renderAnswer({ step, content, finishReason }: ModelAnswered, names: Map<string, string>): readonly string[] {
  let index = 0;
  const lines = content.flatMap((item) => {
    if (item.type === "tool-call" && item.providerExecuted !== true) names.set(`${step}.${index++}`, item.toolName);
    return item.type === "source" ? [] : renderPart("assistant", item);
  });
  const isWhole = finishReason === "stop" || finishReason === "tool-calls";
  return isWhole ? lines : [...lines, `(${finishReason})`];
}

/** The text of an answer is a line above already. */
function renderEnd({ status, output, reason, error }: RunFixtureEnd): string {
  if (error !== undefined) return renderText(`= ${status}`, `${error.code}: ${error.message}`).join("\n");
  if (reason !== undefined) return `= ${status}: ${reason}`;
  return output === undefined || typeof output === "string" ? `= ${status}` : `= ${status}: ${JSON.stringify(output)}`;
}
