import type { JsonObject } from "../../core/json.ts";
import type { SkillDraft, ToolDraft } from "../tool-draft.ts";

/** What a template is filled in with. */
export interface Filling {
  /** The name of what is made. */
  readonly name: string;
  /** What it is for, if the template's own words are not enough. */
  readonly description?: string;
  /** Values of the parameters, checked, with their defaults. */
  readonly values: JsonObject;
}

interface TemplateHead {
  readonly name: string;
  /** What it makes and what that is good for: it is also found by these words. */
  readonly description: string;
  /** JSON Schema of an object; nearly every parameter has a default. */
  readonly parameters: JsonObject;
}

/** Makes the draft of a tool. It does nothing else: the same values, the same draft. */
export interface ToolTemplate extends TemplateHead {
  readonly makes: "tool";
  toDraft(filling: Filling): ToolDraft;
}

/** Makes the draft of a skill. */
export interface SkillTemplate extends TemplateHead {
  readonly makes: "skill";
  toDraft(filling: Filling): SkillDraft;
}

/** A kind of tool or skill to start from. */
export type Template = ToolTemplate | SkillTemplate;

/** The schema of parameters, or of an input, with these properties and no others. */
export function objectOf(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}
