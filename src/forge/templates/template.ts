import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { SkillDraft, ToolDraft } from "../drafts/tool-draft.ts";

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

/** Puts a literal into the place of a program that is kept for it, `@VALUES@`. */
export function putIn(program: string, literal: string): string {
  // A function: in a text, `$&` and the like would have a meaning.
  return program.replace("@VALUES@", () => literal);
}

/**
 * Writes a value as an expression of Python that reads it from JSON; the module must `import json`. The text is plain ASCII without
 * line breaks, so nothing in the value can end the literal.
 */
export function toPython(value: JsonValue): string {
  return `json.loads(${JSON.stringify(toAsciiJson(value))})`;
}

/** Writes a value as an expression of JavaScript. */
export function toJavaScript(value: JsonValue): string {
  return `JSON.parse(${JSON.stringify(toAsciiJson(value))})`;
}

/** Writes a text as one word of a shell, in which nothing is expanded. */
export function toBash(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Writes the JSON of a value as a literal of Rust. */
export function toRustJson(value: JsonValue): string {
  // Inside are only printable characters: a backslash and a quote are all that Rust reads.
  return `"${toAsciiJson(value).replaceAll(/["\\]/gu, String.raw`\$&`)}"`;
}

/** Writes the JSON of a value as a literal of AssemblyScript. */
export function toAssemblyScriptJson(value: JsonValue): string {
  return JSON.stringify(toAsciiJson(value));
}

/** JSON in which every character outside of printable ASCII is escaped. */
function toAsciiJson(value: JsonValue): string {
  return JSON.stringify(value).replaceAll(
    /[^\u0020-\u007E]/g,
    (character) => String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}
