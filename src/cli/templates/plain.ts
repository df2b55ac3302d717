import { skillDocument, type SkillTemplate } from "./skill-template.ts";

/** Instructions only. */
export const plainTemplate: SkillTemplate = {
  name: "plain",
  summary: "instructions and references, no scripts",
  render: (skill) => [
    skillDocument(skill, "", body),
    { path: "references/details.md", content: `# Details of ${skill.name}\n\n${details}` },
  ],
};

const body = `Say in one or two sentences what this skill is for, and what it must never do.

## Steps

1. Say what to do first, and how to tell that it worked.
2. Then the next thing. One step, one action.
3. Say what the answer to the user has to contain.

## When something is unclear

- Say what to ask the user, and what to decide without asking.

Everything that is needed only now and then is in [references/details.md](references/details.md).
`;

const details = `A model reads this file only when the instructions send it here. Tables, examples and special cases belong here; the
instructions stay short.
`;
