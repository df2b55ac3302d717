import type { ModelMessage } from "../../models/model.ts";
import { countPart, countTool, type ContentCount } from "../../models/tokens/count-content.ts";
import { readNativeChange, readSpokenChange } from "../../models/tool-changes.ts";
import { readActivation } from "../exposure/tell-activation.ts";
import { markOf } from "../memory/kitbag-mark.ts";
import { conversation, holderOfTool, instructions, type CostHolder } from "./cost-holder.ts";

/** What a conversation says about a tool or a skill, and costs. */
export interface Definition {
  readonly holder: CostHolder;
  /** Whether it counts as the definition of a tool, or as instructions. */
  readonly kind: "schemas" | "results";
  readonly count: ContentCount;
}

/** The definitions that a message of a user or of the system holds, and whom the rest of it is put down to. */
export function definitionsIn(message: ModelMessage): {
  readonly definitions: readonly Definition[];
  readonly rest: CostHolder;
} {
  const change = readNativeChange(message);
  if (change !== undefined) {
    const definitions = change.added.map((tool) => toDefinition(tool.name, countTool(tool)));
    return { definitions, rest: instructions };
  }
  const { tools = false, summary = false } = markOf(message);
  if (tools) return { definitions: textsOf(message).flatMap(readSpokenChange).map(toDeclared), rest: instructions };
  // The instructions of open skills stand behind a summary.
  return { definitions: summary ? textsOf(message).flatMap(skillTextsIn) : [], rest: conversation };
}

type ResultPart = Extract<Extract<ModelMessage, { role: "tool" }>["content"][number], { type: "tool-result" }>;

/** The definitions of tools that came of a call. */
export function definitionsOf({ toolName, output }: ResultPart): readonly Definition[] {
  if (toolName === "activate_skill" && output.type === "text") return readActivation(output.value).map(toDeclared);
  if (output.type !== "json") return [];
  if (toolName === "describe_tool") return toDeclaredJson(output.value);
  const { tools } = (output.value ?? {}) as { readonly tools?: unknown };
  return toolName === "search_tools" && Array.isArray(tools) ? tools.flatMap(toDeclaredJson) : [];
}

/** A tool that is told with what it takes. */
function toDeclaredJson(value: unknown): readonly Definition[] {
  const { name, input } = (value ?? {}) as { readonly name?: unknown; readonly input?: unknown };
  return typeof name === "string" && input !== undefined ? [toDeclared({ name, text: JSON.stringify(value) })] : [];
}

/** The instructions of open skills in a text of Kitbag's own. */
export function skillTextsIn(text: string): readonly Definition[] {
  return [...text.matchAll(/<skill_content name="([^"\n]+)">\n.*?\n<\/skill_content>/gsu)].map(
    ([whole, name = ""]) => ({
      holder: { kind: "skill", name },
      kind: "results",
      count: countPart({ text: whole }),
    }),
  );
}

function toDeclared({ name, text }: { readonly name: string; readonly text: string }): Definition {
  return toDefinition(name, countPart({ text }));
}

function toDefinition(name: string, count: ContentCount): Definition {
  return { holder: holderOfTool(name), kind: "schemas", count };
}

function textsOf({ content }: ModelMessage): readonly string[] {
  if (typeof content === "string") return [content];
  return content.flatMap((part) => (part.type === "text" ? [part.text] : []));
}
