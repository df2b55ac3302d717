import { allKinds, patternRedactor, type PatternRedactor } from "../../core/redaction/pattern-redactor.ts";
import type { RedactionKind } from "../../core/redaction/rules.ts";
import type { Failure } from "../../core/errors.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ModelMessage } from "../../models/model.ts";

/** What of a model's input looks like a secret or like personal data: everything (`true`), some kinds, or nothing. */
export type InputRedaction = boolean | readonly RedactionKind[];

/**
 * Takes out of what goes into a conversation what a model must not see. It is done where something comes in, so that the journal, the
 * memory and every question hold the same.
 */
export interface InputRedactor {
  messages(messages: readonly ModelMessage[]): readonly ModelMessage[];
  text(text: string): string;
  outcome(outcome: ToolOutcome): ToolOutcome;
}

/** Makes the redactor that the option asks for; none if nothing is to be taken out. */
export function createInputRedactor(choice: InputRedaction = false): InputRedactor | undefined {
  const kinds = typeof choice === "boolean" ? (choice ? allKinds : []) : choice;
  if (kinds.length === 0) return undefined;
  const redactor = patternRedactor(kinds);
  return {
    messages: (messages) => messages.map((message) => redactMessage(message, redactor)),
    text: (text) => redactor.text(text),
    outcome: (outcome) => redactOutcome(outcome, redactor),
  };
}

function redactOutcome(outcome: ToolOutcome, redactor: PatternRedactor): ToolOutcome {
  if (outcome.status === "ok") return { ...outcome, output: redactor.value(outcome.output) };
  const { error } = outcome;
  const shown = { message: redactor.text(error.message), details: redactor.value(error.details) };
  return { ...outcome, error: { ...error, ...shown } as Failure };
}

function redactMessage(message: ModelMessage, redactor: PatternRedactor): ModelMessage {
  if (message.role === "system") return { ...message, content: redactor.text(message.content) };
  return { ...message, content: message.content.map((part) => redactPart(part, redactor)) } as ModelMessage;
}

type Part = Exclude<ModelMessage, { role: "system" }>["content"][number];

/** Pictures have no text, and a model's own reasoning is signed: neither is touched. */
function redactPart(part: Part, redactor: PatternRedactor): Part {
  if (part.type === "text") return { ...part, text: redactor.text(part.text) };
  if (part.type === "tool-call") return { ...part, input: redactor.value(part.input) };
  if (part.type === "tool-result") return { ...part, output: redactor.value(part.output) };
  return part;
}
