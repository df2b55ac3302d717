import type { ModelAnswered } from "../events.ts";
import { isCut } from "./is-cut.ts";
import type { RunState } from "./run-state.ts";

/** Notes what an answer says: the last text of the model, which goes on with what it had said when its answer was cut. */
export function noteText(
  run: Pick<RunState, "text" | "cutText" | "continued">,
  answer: Pick<ModelAnswered, "content" | "finishReason">,
): void {
  const text = run.cutText + textOf(answer.content);
  if (text !== "") run.text = text;
  const wasCut = isCut(answer);
  run.cutText = wasCut ? text : "";
  run.continued = wasCut ? run.continued + 1 : 0;
}

function textOf(content: ModelAnswered["content"]): string {
  let text = "";
  for (const item of content) if (item.type === "text") text += item.text;
  return text;
}
