import type { ModelAnswer, ModelContent, ModelPart } from "../model.ts";
import type { PartSource } from "./part-source.ts";

/** Puts the parts of an answer together. @throws what an error in it says, or that it ended too early */
export async function collectAnswer(source: PartSource): Promise<ModelAnswer> {
  const content: ModelContent[] = [];
  let warnings: ModelAnswer["warnings"] = [];
  let end: Extract<ModelPart, { type: "finish" }> | undefined;
  for (let part = await source.next(); part !== undefined; part = await source.next()) {
    if (part.type === "error") throw part.error;
    if (part.type === "stream-start") ({ warnings } = part);
    if (part.type === "tool-call") content.push(part);
    if (part.type === "finish") end = part;
    addText(content, part);
  }
  if (end === undefined || end.finishReason.unified === "interrupted") throw new Error("stream ended");
  return { content, finishReason: end.finishReason, usage: end.usage, warnings };
}

function addText(content: ModelContent[], part: ModelPart): void {
  if (part.type === "text-start") content.push({ type: "text", text: "" });
  if (part.type === "reasoning-start") content.push({ type: "reasoning", text: "" });
  if (part.type !== "text-delta" && part.type !== "reasoning-delta") return;
  const last = content.at(-1);
  if (last?.type === "text" || last?.type === "reasoning") last.text += part.delta;
}
