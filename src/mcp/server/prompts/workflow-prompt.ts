import type { ServedClient } from "../client.ts";

/** What somebody fills in before a prompt is used. */
export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** The words of a prompt for one client. */
export interface PromptWords {
  /** Whether the client can call this tool. */
  has(tool: string): boolean;
  /** How a text names a tool: by its name, or by the tool that reaches it. */
  name(tool: string): string;
  /** What a tool takes, as it is now; empty if the client knows it already. */
  takes(tool: string): string;
}

/** One way of working that a person can pick, as a text for the model. */
export interface WorkflowPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  /** Tools that it cannot do without: it is there while they are. */
  readonly needs: readonly string[];
  /** Writes the text. It names only tools that `words` has. */
  render(values: Readonly<Record<string, string>>, words: PromptWords, client: ServedClient): string;
}
