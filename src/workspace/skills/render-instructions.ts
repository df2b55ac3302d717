import type { TextParts } from "../../core/skill-command.ts";
import type { Skill } from "../../core/skill.ts";
import { findToolReferences, renderToolReferences } from "../../skills/document/tool-references.ts";
import type { RegistryView } from "../registry.ts";

/** The text of a skill for one use, with the tools it names under the names that a model must use. */
export function renderInstructions(
  skill: Skill,
  registry: RegistryView,
  argumentText: string,
  parts: Omit<TextParts, "prose"> = {},
): string {
  const prose = (text: string): string => nameTools(text, registry);
  if (skill.render === undefined) return prose(withArguments(skill.instructions, argumentText));
  return skill.render(argumentText, { ...parts, prose });
}

function nameTools(text: string, registry: RegistryView): string {
  const names = findToolReferences(text).flatMap(({ address }): [string, string][] => {
    const resolution = registry.resolve(address);
    return resolution.ok ? [[address, resolution.entry.wireName]] : [];
  });
  return renderToolReferences(text, new Map(names));
}

function withArguments(instructions: string, argumentText: string): string {
  return argumentText === "" ? instructions : `${instructions}\n\nARGUMENTS: ${argumentText}`;
}
