import type { Model, ModelPart, ModelUsage } from "kitbag/models";

/** How many steps ask for a call, before the one that answers. */
export const callSteps = 10;

const usage: ModelUsage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

/** A model in memory without a state: it asks for `calls` calls of `add` until it sees the results of all steps, then it answers. */
export function benchModel(steps = callSteps, calls = 1): Model {
  return {
    specificationVersion: "v4",
    provider: "kitbag.bench",
    modelId: "bench",
    supportedUrls: {},
    async doGenerate() {
      throw new Error("Only streams are measured");
    },
    async doStream({ prompt }) {
      let step = 0;
      // By number: what the model itself takes must not grow with the conversation.
      for (let index = 0; index < prompt.length; index++) if (prompt[index]?.role === "tool") step += 1;
      const parts = step < steps ? toCalls(step, calls) : toText();
      const stream = new ReadableStream<ModelPart>({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      });
      return { stream };
    },
  };
}

function toCalls(step: number, calls: number): readonly ModelPart[] {
  const parts = Array.from({ length: calls }, (_, index): readonly ModelPart[] => {
    const id = `call-${step}-${index}`;
    const input = `{"a":${step},"b":${index}}`;
    return [
      { type: "tool-input-start", id, toolName: "add" },
      { type: "tool-input-delta", id, delta: input },
      { type: "tool-input-end", id },
      { type: "tool-call", toolCallId: id, toolName: "add", input },
    ];
  });
  return [
    { type: "stream-start", warnings: [] },
    ...parts.flat(),
    { type: "finish", finishReason: { unified: "tool-calls", raw: undefined }, usage },
  ];
}

function toText(): readonly ModelPart[] {
  return [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: "done" },
    { type: "text-end", id: "0" },
    { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage },
  ];
}
