import type { Skill } from "../../../core/skill.ts";
import { createDispatchView, type DispatchView } from "../../../workspace/dispatch/dispatch-view.ts";
import { firstLine } from "../../../workspace/dispatch/tool-dispatch.ts";
import { renderInstructions } from "../../../workspace/skills/render-skills.ts";
import { toServedName, toSkillUri } from "../skills/skill-uri.ts";
import { isWithinLimits } from "../skills/served-skill.ts";
import { findVisibleSkills } from "../skills/attach-skills.ts";
import { toKitbagUri } from "./kitbag-uri.ts";
import type { ResourcePart } from "./resource-part.ts";
import { findShownTools } from "../shown-tools.ts";

const mimeType = "text/markdown";
const mostFiles = 200;

/**
 * The skills, with their tools and how to open them. They are not listed: their `SKILL.md` are, as resources of the skills
 * extension.
 */
export const skillResources: ResourcePart = {
  kind: "skills",
  isFor: () => true,
  templates: [
    {
      name: "skill",
      title: "Skill",
      uriTemplate: "kitbag://skills/{name}",
      description: "A skill: its instructions, its tools, its files, and how to open it",
      mimeType,
    },
  ],
  list: () => [],
  read({ name }, client) {
    const view = createDispatchView(client.session);
    if (!findVisibleSkills(client).some((skill) => skill.name === name)) return undefined;
    const text = renderSkill(view.findReadable(name), view, findShownTools(client));
    return { contents: [{ uri: toKitbagUri("skills", name), mimeType, text }], ttlMs: 5000 };
  },
};

function renderSkill(skill: Skill, view: DispatchView, shown: ReturnType<typeof findShownTools>): string {
  const { name, description } = skill;
  const isOpen = view.isOpen(name);
  const cure = shown.has("activate_skill") ? ` Open it with activate_skill({ "name": "${name}" }).` : "";
  const state = isOpen ? "This skill is open: its tools can be called." : `This skill is not open.${cure}`;
  const tools = skill.tools.map((tool) => {
    const wireName = view.getTool(`${name}/${tool.name}`)?.wireName ?? tool.name;
    return `- ${wireName}: ${firstLine(tool.description)}`;
  });
  const files = skill.folder?.files ?? [];
  const served = toServedName(name);
  const isServed = isWithinLimits(skill);
  const shownFiles = files
    .slice(0, mostFiles)
    .map(({ path, bytes }) => `- ${isServed ? `<${toSkillUri(served, path)}>` : path} (${bytes} bytes)`);
  const more = files.length > mostFiles ? [`- and ${files.length - mostFiles} more`] : [];
  return [
    `# ${skill.displayName ?? name}`,
    description,
    state,
    ...section("Tools", tools),
    ...section("Files", [...shownFiles, ...more]),
    // Reading runs nothing: commands in the text stay as they are written.
    `## Instructions\n\n${renderInstructions(skill, (address) => view.getTool(address)?.wireName, "")}`,
  ].join("\n\n");
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`## ${title}`, lines.join("\n")];
}
