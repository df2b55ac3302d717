import { toFailure } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { toWireName } from "../../core/names.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Middleware } from "../../workspace/call/middleware.ts";
import { checkFixture, type RunFixture } from "./run-fixture.ts";

/**
 * Makes a middleware that answers calls with what came of them when a run was recorded, so that no tool is reached. A call is found by
 * its tool and its input; the same call again is answered with what came of it the next time. One that was not recorded fails with
 * `recording-diverged`. Skills are opened and closed as always.
 *
 * @throws {KitbagError} `option-invalid` if it is no fixture.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool } from "kitbag";
 * import { createAgent } from "kitbag/agent";
 * import { mockModel, recordedTools, recordRun } from "kitbag/testing";
 *
 * const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => 4 });
 * const agent = createAgent({
 *   model: mockModel([{ calls: [{ tool: "roll" }] }, "Rolled"]),
 *   workspace: createWorkspace({ tools: [roll] }),
 * });
 * const fixture = await recordRun(agent.run("Roll a die"));
 *
 * const broken = defineTool({ name: "roll", description: "Rolls a die", run: () => Promise.reject(new Error("no die")) });
 * const workspace = createWorkspace({ tools: [broken] });
 * workspace.use(recordedTools(fixture));
 * const outcome = await workspace.call("roll", {});
 * console.assert(outcome.status === "ok" && outcome.output === 4);
 * ```
 */
export function recordedTools(fixture: RunFixture): Middleware {
  const recorded = listOutcomes(checkFixture(fixture).events);

  return ({ address, input, parentId }, next) => {
    // A call inside a call belongs to a tool that a test chose to run.
    if (parentId !== undefined) return next();
    const tool = toWire(address);
    const outcome = recorded.get(toKey(tool, input))?.shift();
    return outcome ?? { status: "failed", error: toFailure("recording-diverged", describe(recorded, tool, input)) };
  };
}

function listOutcomes(events: readonly JsonObject[]): Map<string, ToolOutcome[]> {
  const keys = new Map<string, string>();
  const recorded = new Map<string, ToolOutcome[]>();
  for (const event of events) {
    if (event["type"] === "model-answer") noteCalls(keys, event);
    const key = event["type"] === "step-outcome" ? keys.get(event["step"] as string) : undefined;
    if (key === undefined) continue;
    const list = recorded.get(key) ?? [];
    list.push(event["output"] as unknown as ToolOutcome);
    recorded.set(key, list);
  }
  return recorded;
}

function noteCalls(keys: Map<string, string>, { step, content }: JsonObject): void {
  let index = 0;
  for (const item of content as readonly JsonObject[]) {
    if (item["type"] !== "tool-call" || item["providerExecuted"] === true) continue;
    const input = parse(item["input"] as string);
    const { name, input: inner = {} } = (input ?? {}) as Partial<Record<string, unknown>>;
    const isDispatch = item["toolName"] === "call_tool" && typeof name === "string";
    const key = isDispatch ? toKey(toWire(name), inner) : toKey(item["toolName"] as string, input);
    keys.set(`${step as number}.${index++}`, key);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.trim() === "" ? "{}" : text);
  } catch {
    return text;
  }
}

function toWire(address: string): string {
  return toWireName(address, () => false);
}

function toKey(tool: string, input: unknown): string {
  return `${tool} ${JSON.stringify(sortKeys(input ?? {}))}`;
}

/** The order of properties has no meaning. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, inner]) => [name, sortKeys(inner)]),
  );
}

function describe(
  recorded: ReadonlyMap<string, unknown>,
  tool: string,
  input: unknown,
): { readonly what: string; readonly difference: string } {
  const key = toKey(tool, input);
  if (recorded.has(key)) return { what: `${tool} is called once more than it was`, difference: `+ ${key}` };
  const known = [...recorded.keys()].filter((one) => one.startsWith(`${tool} `));
  return {
    what: known.length === 0 ? `${tool} was not called` : `${tool} was called with something else`,
    difference: [...known.map((one) => `- ${one}`), `+ ${key}`].join("\n"),
  };
}
