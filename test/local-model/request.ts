import type { MadeCall } from "../support/drive-model.ts";

/** A request, and what a helpful model does with it. */
export interface RequestCase {
  /** One message, or several in turn. */
  readonly ask: string | readonly string[];
  /** All calls in order. Skills that are opened are `["activate_skill", { name }]`. */
  readonly calls: readonly MadeCall[];
  /** What the last answer says, where the calls alone do not tell. */
  readonly says?: RegExp;
}

/** A skill that is opened, and a call of one of its tools. */
export function viaSkill(skill: string, tool: string, input: object): MadeCall[] {
  return [
    ["activate_skill", { name: skill }],
    [`${skill}__${tool}`, input],
  ];
}
