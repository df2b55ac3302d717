import type { Skill } from "../../core/skill.ts";
import { findToolReferences, renderToolReferences } from "../../skills/document/tool-references.ts";
import type { Registry } from "../registry.ts";

/** The text of a skill for one use, with the tools it names under the names that a model must use. */
export function renderInstructions(skill: Skill, registry: Registry, argumentText: string): string {
  const text =
    skill.render === undefined ? withArguments(skill.instructions, argumentText) : skill.render(argumentText);
  const names = findToolReferences(text).flatMap(({ address }): [string, string][] => {
    const resolution = registry.resolve(address);
    return resolution.ok ? [[address, resolution.entry.wireName]] : [];
  });
  return renderToolReferences(text, new Map(names));
}

function withArguments(instructions: string, argumentText: string): string {
  return argumentText === "" ? instructions : `${instructions}\n\nARGUMENTS: ${argumentText}`;
}
