import type {
  GetPromptResult,
  InputRequiredResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  ServerContext,
} from "@modelcontextprotocol/server";

/**
 * Resources that are served beside Kitbag's own.
 *
 * **Contract**: lists may change whenever `McpServing.notify` says so, and are in a fixed order.
 */
export interface McpResourceSource {
  list?(): readonly Resource[];
  templates?(): readonly ResourceTemplateType[];
  /** Answers `undefined` for what is not its own; then the next source is asked. */
  read(uri: string, context: ServerContext): Promise<ReadResourceResult | InputRequiredResult | undefined>;
  /** Values for an argument of one of its templates; `undefined` for a template that is not its own. */
  complete?(template: string, argument: McpArgument): Promise<readonly string[] | undefined>;
}

/** Prompts that are served beside Kitbag's own. */
export interface McpPromptSource {
  list(): readonly Prompt[];
  /** Answers `undefined` for what is not its own; then the next source is asked. */
  get(
    name: string,
    values: Readonly<Record<string, string>>,
    context: ServerContext,
  ): Promise<GetPromptResult | InputRequiredResult | undefined>;
  /** Values for an argument of one of its prompts; `undefined` for a prompt that is not its own. */
  complete?(prompt: string, argument: McpArgument): Promise<readonly string[] | undefined>;
}

/** An argument that somebody is typing. */
export interface McpArgument {
  readonly name: string;
  /** What is typed so far. */
  readonly value: string;
}
