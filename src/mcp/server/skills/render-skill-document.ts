import type { Skill } from "../../../core/skill.ts";

const longestDescription = 1024;

/**
 * Writes the SKILL.md of a skill that has none which clients accept: one that is defined in code, or whose own file is more than the
 * specification allows.
 */
export function renderSkillDocument(skill: Skill, servedName: string): string {
  const { name, version } = skill;
  const metadata = { ...(name !== servedName && { "kitbag-skill": name }), ...(version !== undefined && { version }) };
  const lines = [
    "---",
    `name: ${servedName}`,
    `description: ${quote(toDescription(skill))}`,
    ...(Object.keys(metadata).length > 0 ? ["metadata:"] : []),
    ...Object.entries(metadata).map(([key, value]) => `  ${key}: ${quote(value)}`),
    "---",
    "",
  ];
  return `${lines.join("\n")}${skill.instructions.toWellFormed()}`;
}

function toDescription({ name, description }: Skill): string {
  const text = description.toWellFormed().trim();
  const characters = Array.from(text === "" ? `The skill ${name}` : text);
  return characters.length <= longestDescription
    ? characters.join("")
    : `${characters.slice(0, longestDescription - 1).join("")}…`;
}

/** JSON text is YAML too, whatever is in it. */
function quote(text: string): string {
  return JSON.stringify(text);
}
