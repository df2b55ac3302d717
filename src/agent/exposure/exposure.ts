import type { Model, ModelMessage, ModelTool } from "../../models/model.ts";
import type { DispatchTool } from "../../workspace/dispatch/dispatch-tool.ts";
import type { Session } from "../../workspace/workspace.ts";

/** What an exposure is made of. */
export interface ExposureParts {
  readonly session: Session;
  readonly model: Model;
  readonly instructions: string | undefined;
}

/** What a model is shown beside the conversation. */
export interface ModelView {
  readonly system: string;
  readonly tools: readonly ModelTool[];
}

/**
 * How a model sees tools, in one run.
 *
 * **Contract**: `view` answers with the same object while nothing has changed, so that calling it in each step is cheap.
 */
export interface Exposure {
  readonly name: "direct" | "announce" | "dispatch";
  view(): ModelView;
  /** What is to be said at the end of the conversation because skills were opened or closed, once. */
  announcement(): ModelMessage | undefined;
  /** Notes skills that the model has opened and whose result it has read. Absent where it makes no difference. */
  noteOpened?(skills: readonly string[]): void;
  /** The tool of Kitbag's own that a model means with a name, if there is one. */
  find(name: string): DispatchTool | undefined;
}
