import type { JsonObject } from "../../core/json.ts";
import type { ModelMessage } from "../../models/model.ts";
import { createDispatchTools } from "../../workspace/dispatch/create-dispatch-tools.ts";
import type { DispatchTool } from "../../workspace/dispatch/dispatch-tool.ts";
import type { RegisteredTool } from "../../workspace/registered-tool.ts";
import type { Session } from "../../workspace/sessions/session.ts";
import type { Exposure, ExposureParts, ModelView } from "./exposure.ts";
import { toLeanTools } from "./to-lean-tools.ts";
import { renderSystem } from "./render-system.ts";
import { shortenTool } from "./shorten-tool.ts";
import { tellActivation } from "./tell-activation.ts";
import { toDispatchModelTool, toModelTool } from "./to-model-tools.ts";

/** With these a model reaches everything; `read_skill` is of no use to one that can open skills. */
const ownNames = new Set([
  "search_tools",
  "describe_tool",
  "call_tool",
  "list_skills",
  "read_skill_file",
  "activate_skill",
  "deactivate_skill",
]);

/** Where every tool that is opened comes into the list, none has to be described or called in another way. */
const needless = new Set(["describe_tool", "call_tool"]);

/** Whether `tool` can be of any use to a model of this session. */
function isUseful({ name }: DispatchTool, session: Session, isNative: boolean): boolean {
  if (!ownNames.has(name) || (isNative && needless.has(name))) return false;
  return name !== "read_skill_file" || session.getSkills().some(({ skill }) => (skill.folder?.files.length ?? 0) > 1);
}

/**
 * The list of tools stays as it is at the beginning; what is opened and closed is said at the end of the conversation, so that
 * everything before it stays in the provider's cache. Where the provider can, the change is one of its list of tools too; elsewhere
 * the new tools are reached with `call_tool`.
 */
export function announceTools({ session, model, instructions = "" }: ExposureParts): Exposure {
  const isNative = model.provider.startsWith("anthropic");
  /** Skills whose tools the model has been told of by opening them itself. */
  const opened = new Set<string>();
  const own = new Map<string, DispatchTool>();
  for (const tool of createDispatchTools(session)) {
    if (!isUseful(tool, session, isNative)) continue;
    const shown = isNative ? shortenTool(tool) : tellActivation(tool, (skill) => opened.add(skill));
    own.set(tool.name, shown);
  }
  let told = session.getAvailableTools();
  const view: ModelView = {
    system: renderSystem(session, instructions, isNative ? "" : howTo),
    tools: [...[...own.values()].map(toDispatchModelTool), ...told.map(toModelTool)],
  };

  return {
    name: "announce",
    view: () => view,
    announcement() {
      const now = session.getAvailableTools();
      if (now === told) return undefined;
      const change = compare(told, now);
      told = now;
      const { added, removed } = change;
      const untold = isNative ? added : added.filter(({ owner }) => !opened.has(owner));
      opened.clear();
      if (untold.length === 0 && removed.length === 0) return undefined;
      return isNative ? toToolChanges(untold, removed) : toText(untold, removed);
    },
    noteOpened(skills) {
      if (!isNative) for (const skill of skills) opened.add(skill);
    },
    find: (name) => own.get(name),
  };
}

const howTo =
  "Tools of skills that are opened later are not in the list: call them with call_tool({ name, input }), as the answer of activate_skill declares them.";

interface ToolChange {
  readonly added: readonly RegisteredTool[];
  readonly removed: readonly RegisteredTool[];
}

function compare(before: readonly RegisteredTool[], now: readonly RegisteredTool[]): ToolChange {
  const known = new Set(before);
  const still = new Set(now);
  return { added: now.filter((entry) => !known.has(entry)), removed: before.filter((entry) => !still.has(entry)) };
}

/** A change that Anthropic's models know as one of their list of tools. */
function toToolChanges(added: readonly RegisteredTool[], removed: readonly RegisteredTool[]): ModelMessage {
  const toolChanges = [
    ...toLeanTools(added).map((tool) => ({ type: "tool_addition", tool: tool as unknown as JsonObject })),
    ...removed.map(({ wireName }) => ({ type: "tool_removal", toolName: wireName })),
  ];
  // The changes say it: nothing is left to say in words.
  return { role: "system", content: "", providerOptions: { anthropic: { toolChanges } } };
}

const longestDescription = 1000;
const longestSchema = 10_000;

function toText(added: readonly RegisteredTool[], removed: readonly RegisteredTool[]): ModelMessage {
  const declarations = added.map((entry) => {
    const { name, description = "", inputSchema } = toModelTool(entry);
    const input = JSON.stringify(inputSchema);
    // One line for each, of some length: what a server says of its tools must not look like what the agent says.
    const words = description.replaceAll(/\s+/gu, " ").slice(0, longestDescription);
    return `- ${name}: ${words} Input: ${input.length > longestSchema ? "see describe_tool" : input}`;
  });
  return { role: "user", content: [{ type: "text", text: [say(added, removed), ...declarations].join("\n") }] };
}

function say(added: readonly RegisteredTool[], removed: readonly RegisteredTool[]): string {
  const names = (entries: readonly RegisteredTool[]): string => entries.map(({ wireName }) => wireName).join(", ");
  return [
    ...(added.length > 0 ? [`Tools that can be called from now on: ${names(added)}.`] : []),
    ...(removed.length > 0 ? [`Tools that cannot be called any more: ${names(removed)}.`] : []),
  ].join(" ");
}
