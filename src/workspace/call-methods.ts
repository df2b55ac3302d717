import type { ToolOutcome } from "../core/outcome.ts";
import type { TypedTool } from "../core/tool.ts";
import type { CallOptions } from "./call/call-options.ts";
import type { OutputPage, PageOptions } from "./outputs/read-page.ts";
import type { OutputMatches, SearchOutputOptions } from "./outputs/search-output.ts";
import type { OutputSlice, SliceOutputOptions } from "./outputs/slice-output.ts";
import type { WorkspaceChange } from "./registered-tool.ts";

/** How tools are called, and what came of it is read. */
export interface CallMethods {
  /** Calls `listener` after each change; answers with the function that ends it. */
  onChange(listener: (change: WorkspaceChange) => void): () => void;
  /**
   * Calls a tool.
   *
   * **Contract**: never throws and never rejects; every failure is an outcome. Resolves at the deadline at the latest, also if
   * the tool does not stop; only somebody who is asked for an approval, a middleware and the store may take longer.
   */
  call<Input, Output>(
    tool: TypedTool<Input, Output>,
    input: Input,
    options?: CallOptions,
  ): Promise<ToolOutcome<Output>>;
  call(tool: string, input?: unknown, options?: CallOptions): Promise<ToolOutcome>;
  /**
   * Reads a part of an output that was too large to hand over. With `user`, only what was kept for that user.
   *
   * @throws {KitbagError} `output-missing` if nothing is kept under the handle, or no longer: without a store the latest 256 MiB
   * are. `option-invalid` if an option is wrong.
   */
  readOutput(handle: string, options?: PageOptions): Promise<OutputPage>;
  /** Finds words in such an output. @throws {KitbagError} as `readOutput` */
  searchOutput(handle: string, options: SearchOutputOptions): Promise<OutputMatches>;
  /**
   * Takes a part out of such an output, if it is JSON: what is at a path, or some items of a list.
   *
   * @throws {KitbagError} as `readOutput`; `option-invalid` also if there is nothing at the path, and says what there is instead.
   */
  sliceOutput(handle: string, options?: SliceOutputOptions): Promise<OutputSlice>;
}
