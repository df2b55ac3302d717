import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { getShape } from "../flags/parameter.ts";

/** Parameters of operations whose flags would mean something else on every command, or a half of two things that belong together. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ["input", "input-schema"],
  ["output", "output-schema"],
  ["skills", "skill"],
  ["plugins", "plugin"],
]);

/** The flags that this schema has under another name, by the name of the parameter. */
export function findOtherNames(schema: JsonSchema): ReadonlyMap<string, string> {
  const { properties } = getShape(schema, schema);
  return new Map([...otherNames].filter(([parameter, flag]) => properties.has(parameter) && !properties.has(flag)));
}

/** The words of a person, with the flags as the schema names them. */
export function toParameterWords(schema: JsonSchema, words: readonly string[]): readonly string[] {
  const names = findOtherNames(schema);
  return words.map((word) => {
    for (const [parameter, flag] of names) {
      const rest = word.startsWith(`--${flag}`) ? word.slice(flag.length + 2) : undefined;
      if (rest !== undefined && /^(?:$|[.=])/u.test(rest)) return `--${parameter}${rest}`;
    }
    return word;
  });
}

/** A flag as a person types it: `--input.type` as `--input-schema.type`. */
export function toTypedFlag(schema: JsonSchema, flag: string): string {
  const [, head = "", rest = ""] = /^--([^.]+)(.*)$/u.exec(flag) ?? [];
  const other = findOtherNames(schema).get(head);
  return other === undefined ? flag : `--${other}${rest}`;
}
