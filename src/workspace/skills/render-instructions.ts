import type { TextParts } from "../../core/skill-command.ts";
import type { Skill } from "../../core/skill.ts";
import { findToolReferences, renderToolReferences } from "../../skills/document/tool-references.ts";

/** Finds the name under which a model must call the tool at an address; none if there is no such tool. */
export type FindWireName = (address: string) => string | undefined;

/** The text of a skill for one use, with the tools it names under the names that a model must use. */
export function renderInstructions(
  skill: Skill,
  findWireName: FindWireName,
  argumentText: string,
  parts: Omit<TextParts, "prose"> = {},
): string {
  const prose = (text: string): string => nameTools(text, findWireName);
  if (skill.render === undefined) return prose(withArguments(skill.instructions, argumentText));
  return skill.render(argumentText, { ...parts, prose });
}

function nameTools(text: string, findWireName: FindWireName): string {
  const names = findToolReferences(text).flatMap(({ address }): [string, string][] => {
    const name = findWireName(address);
    return name === undefined ? [] : [[address, name]];
  });
  return renderToolReferences(text, new Map(names));
}

function withArguments(instructions: string, argumentText: string): string {
  return argumentText === "" ? instructions : `${instructions}\n\nARGUMENTS: ${argumentText}`;
}
