import type { Model, ModelMessage, ModelPrompt, ModelTool } from "kitbag/models";

/** A call that a model made. */
export type MadeCall = readonly [tool: string, input: unknown];

/** What a model did with what the user said. */
export interface Driven {
  /** All calls, the opening of skills too, in order. */
  readonly calls: readonly MadeCall[];
  /** The last thing it said. */
  readonly text: string;
}

/** What a model is shown, and what its calls come to. */
export interface Stage {
  readonly system?: string;
  tools(): readonly ModelTool[];
  /** The result of a call: a text, or JSON. What it throws is told as a failure. */
  run(tool: string, input: unknown): unknown;
}

/** More steps than any request needs: a model that takes more is in a loop. */
const mostSteps = 12;

/** Lets a model answer each message of the user in turn, and makes the calls that it asks for. */
export async function driveModel(model: Model, stage: Stage, messages: readonly string[]): Promise<Driven> {
  const prompt: ModelPrompt = stage.system === undefined ? [] : [{ role: "system", content: stage.system }];
  const calls: MadeCall[] = [];
  let text = "";
  for (const message of messages) {
    prompt.push({ role: "user", content: [{ type: "text", text: message }] });
    for (let step = 0; ; step++) {
      if (step === mostSteps) throw new Error(`The model is in a loop: ${JSON.stringify(calls)}`);
      const { content } = await model.doGenerate({ prompt: structuredClone(prompt), tools: [...stage.tools()] });
      const asked = content.filter((part) => part.type === "tool-call");
      text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
      const said = text === "" ? [] : [{ type: "text", text } as const];
      prompt.push({
        role: "assistant",
        content: [...said, ...asked.map((part) => ({ ...part, input: JSON.parse(part.input) as unknown }))],
      });
      if (asked.length === 0) break;
      const results: Extract<ModelMessage, { role: "tool" }>["content"] = [];
      for (const { toolCallId, toolName, input } of asked) {
        calls.push([toolName, JSON.parse(input)]);
        results.push({
          type: "tool-result",
          toolCallId,
          toolName,
          output: await outputOf(stage, toolName, JSON.parse(input)),
        });
      }
      prompt.push({ role: "tool", content: results });
    }
  }
  return { calls, text };
}

async function outputOf(stage: Stage, tool: string, input: unknown) {
  if (!stage.tools().some(({ name }) => name === tool))
    throw new Error(`The model called ${tool}, which it was not shown`);
  try {
    const result: unknown = await stage.run(tool, input);
    if (typeof result === "string") return { type: "text", value: result } as const;
    return { type: "json", value: result as never } as const;
  } catch (cause) {
    return { type: "error-text", value: cause instanceof Error ? cause.message : String(cause) } as const;
  }
}
