import type { ModelMessage } from "../../models/model.ts";
import type { CountedAnswer, ModelAnswered } from "../events.ts";
import type { ModelView } from "../exposure/exposure.ts";

/** A question that was asked: only references, so that it costs nothing until somebody wants to know. */
export interface Question {
  readonly answer: Pick<ModelAnswered, "model" | "content" | "usage" | "cost"> & Pick<CountedAnswer, "estimate">;
  /** What the model was shown of the conversation: the first `count` of these. */
  readonly messages: readonly ModelMessage[];
  readonly count: number;
  /** The system text and the tools; not there if nobody kept them, as in a journal. */
  readonly view?: ModelView;
}
