import { stringify } from "yaml";

import type { NewSkill, TemplateFile } from "./skill-template.ts";

/** Writes a SKILL.md that other clients accept too: the six keys of the specification and nothing else. */
export function skillDocument(
  { name, title, description }: NewSkill,
  compatibility: string,
  body: string,
): TemplateFile {
  const frontMatter = stringify(
    {
      name,
      description,
      license: "MIT",
      ...(compatibility !== "" && { compatibility }),
      metadata: { version: "0.1.0" },
    },
    { lineWidth: 0 },
  );
  return { path: "SKILL.md", content: `---\n${frontMatter}---\n\n# ${title}\n\n${body}` };
}
