import type { ModelCall, ModelMessage, ModelTool } from "./model.ts";

/** A change of the list of tools in the middle of a conversation. */
export interface ToolChange {
  readonly added: readonly ModelTool[];
  /** Their names. */
  readonly removed: readonly string[];
}

/** A message that Anthropic's models read as a change of their list of tools. */
export function toNativeChange({ added, removed }: ToolChange): ModelMessage {
  const toolChanges = [
    ...added.map((tool) => ({ type: "tool_addition", tool })),
    ...removed.map((toolName) => ({ type: "tool_removal", toolName })),
  ];
  // The changes say it: nothing is left to say in words.
  const anthropic = { toolChanges } as unknown as NonNullable<ModelMessage["providerOptions"]>[string];
  return { role: "system", content: "", providerOptions: { anthropic } };
}

/** The change that a message is for Anthropic's models, and nothing to others. */
export function readNativeChange({ role, providerOptions }: ModelMessage): ToolChange | undefined {
  const changes: unknown = role === "system" ? providerOptions?.["anthropic"]?.["toolChanges"] : undefined;
  if (!Array.isArray(changes)) return undefined;
  const all = changes as readonly { readonly type?: unknown; readonly tool?: ModelTool; readonly toolName?: string }[];
  return {
    added: all.flatMap(({ type, tool }) => (type === "tool_addition" && tool !== undefined ? [tool] : [])),
    removed: all.flatMap(({ type, toolName }) => (type === "tool_removal" && toolName !== undefined ? [toolName] : [])),
  };
}

const longestDescription = 1000;
const longestSchema = 10_000;

/** A change as a message of words; `declared` are the tools that the reader cannot see in its list. */
export function toSpokenChange(change: ToolChange, declared: readonly ModelTool[] = change.added): ModelMessage {
  return { role: "user", content: [{ type: "text", text: describeChange(change, declared) }] };
}

/** A change in words. */
export function describeChange({ added, removed }: ToolChange, declared: readonly ModelTool[] = added): string {
  const declarations = declared.map(({ name, description = "", inputSchema }) => {
    const input = JSON.stringify(inputSchema);
    // One line for each, of some length: what a server says of its tools must not look like what the agent says.
    const words = description.replaceAll(/\s+/gu, " ").slice(0, longestDescription);
    return `- ${name}: ${words} Input: ${input.length > longestSchema ? "see describe_tool" : input}`;
  });
  const names = added.map(({ name }) => name);
  const said = [
    ...(added.length > 0 ? [`Tools that can be called from now on: ${names.join(", ")}.`] : []),
    ...(removed.length > 0 ? [`Tools that cannot be called any more: ${removed.join(", ")}.`] : []),
  ].join(" ");
  return [said, ...declarations].join("\n");
}

/** The declarations in a change in words, each with the name of its tool. */
export function readSpokenChange(text: string): readonly { readonly name: string; readonly text: string }[] {
  return text.split("\n").flatMap((line) => {
    const name = /^- (\S+): /u.exec(line)?.[1];
    return name === undefined ? [] : [{ name, text: line }];
  });
}

/**
 * The messages of a conversation for models that do not read changes of the list of tools in it: in words, with what `listed` does
 * not have. The conversation itself if there is no such change.
 */
export function sayToolChanges(prompt: ModelMessage[], listed: NonNullable<ModelCall["tools"]> = []): ModelMessage[] {
  if (!prompt.some((message) => readNativeChange(message) !== undefined)) return prompt;
  const known = new Set(listed.map(({ name }) => name));
  return prompt.map((message) => {
    const change = readNativeChange(message);
    if (change === undefined) return message;
    const { anthropic: _native, ...others } = message.providerOptions ?? {};
    const declared = change.added.filter(({ name }) => !known.has(name));
    const spoken = toSpokenChange(change, declared);
    return Object.keys(others).length === 0 ? spoken : { ...spoken, providerOptions: others };
  });
}

/** A call for models that do not read changes of the list of tools in the conversation: with the list as it is at its end. */
export function listToolChanges(call: ModelCall): ModelCall {
  const changes = call.prompt.flatMap((message) => readNativeChange(message) ?? []);
  if (changes.length === 0) return call;
  const all = new Map((call.tools ?? []).map((tool) => [tool.name, tool]));
  for (const { added, removed } of changes) {
    for (const tool of added) all.set(tool.name, tool);
    for (const name of removed) all.delete(name);
  }
  const tools = [...all.values()];
  // One that was taken away again needs no declaration either.
  const everAdded = changes.flatMap(({ added }) => added);
  return { ...call, tools, prompt: sayToolChanges(call.prompt, [...tools, ...everAdded]) };
}
