import type { Skill } from "../../core/skill.ts";
import type { Registry } from "../registry.ts";

/** A tool that a skill's text names: `plugin:design/generate`. */
const reference = /\bplugin:([A-Za-z0-9][\w.-]*)\/([A-Za-z0-9][\w.-]*[A-Za-z0-9]|[A-Za-z0-9])/gu;

/** The text of a skill for one use, with the tools it names under the names that a model must use. */
export function renderInstructions(skill: Skill, registry: Registry, argumentText: string): string {
  const text =
    skill.render === undefined ? withArguments(skill.instructions, argumentText) : skill.render(argumentText);
  return text.replaceAll(reference, (whole, owner: string, name: string) => {
    const resolution = registry.resolve(`${owner}/${name}`);
    return resolution.ok ? resolution.entry.wireName : whole;
  });
}

function withArguments(instructions: string, argumentText: string): string {
  return argumentText === "" ? instructions : `${instructions}\n\nARGUMENTS: ${argumentText}`;
}
