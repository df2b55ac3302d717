import type { RedactionKind } from "../../core/redaction/rules.ts";
import {
  allKinds,
  defaultKinds,
  patternRedactor,
  type PatternRedactor,
} from "../../core/redaction/pattern-redactor.ts";
import { withPatterns } from "../../core/redaction/redact.ts";
import type { Redactor } from "../../core/redactor.ts";
import type { Expectations } from "./find-wrong-option.ts";

/** Where a workspace takes out what looks like a secret or like personal data: everything (`true`), some kinds, or nothing. */
export interface RedactionOptions {
  /** In what is recorded of calls in the store. @default true */
  readonly records?: boolean | readonly RedactionKind[];
  /** In outcomes, failures, events and pieces of output, and with that in the records, too. @default false */
  readonly output?: boolean | readonly RedactionKind[];
}

/** How to tell what is right in {@link RedactionOptions}. */
export const redactionExpectations: Expectations<RedactionOptions> = {
  records: [isChoice, `true, false, or a list of ${allKinds.join(" and ")}`],
  output: [isChoice, `true, false, or a list of ${allKinds.join(" and ")}`],
};

function isChoice(value: unknown): boolean {
  if (typeof value === "boolean") return true;
  return Array.isArray(value) && value.every((kind) => allKinds.includes(kind as RedactionKind));
}

/** The redactors of a workspace: for everything that leaves a call, and what is taken out of its records on top of that. */
export interface Redaction {
  readonly redactor: Redactor | undefined;
  readonly recordRedactor: PatternRedactor | undefined;
}

/** Makes the redactors that the options ask for. */
export function toRedaction(
  secrets: Redactor | undefined,
  { records = true, output = false }: RedactionOptions,
): Redaction {
  const outside = toKinds(output);
  const inside = toKinds(records).filter((kind) => !outside.includes(kind));
  return {
    redactor: outside.length === 0 ? secrets : withPatterns(secrets, outside),
    recordRedactor: inside.length === 0 ? undefined : patternRedactor(inside),
  };
}

function toKinds(choice: boolean | readonly RedactionKind[]): readonly RedactionKind[] {
  return typeof choice === "boolean" ? (choice ? defaultKinds : []) : choice;
}
