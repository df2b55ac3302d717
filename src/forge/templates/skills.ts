import type { SkillDraft } from "../drafts/tool-draft.ts";
import { scriptPython } from "./scripts.ts";
import { type SkillTemplate } from "./template.ts";
import { closed } from "../drafts/draft-schema.ts";

const line = { type: "string", pattern: String.raw`^[^\u0000-\u001F\u007F]*$`, minLength: 1, maxLength: 500 };

const properties = {
  purpose: { ...line, default: "a kind of work that comes up again and again", description: "What the skill is for" },
  steps: {
    type: "array",
    items: line,
    minItems: 1,
    maxItems: 50,
    default: ["Ask what is wanted, if it is not clear.", "Do it.", "Say what was done, and how it was checked."],
    description: "What to do, in order",
  },
};

interface SkillValues {
  readonly purpose: string;
  readonly steps: readonly string[];
}

/** A skill of words only. */
export const skillPlain: SkillTemplate = {
  name: "skill-plain",
  makes: "skill",
  description: "A skill of instructions only: what to do, step by step, for a kind of work",
  parameters: closed(properties),
  toDraft({ name, description, values }) {
    const given = values as unknown as SkillValues;
    return { name, description: toDescription(description, given), instructions: renderInstructions(given) };
  },
};

/** A skill with a tool of its own. */
export const skillWithScript: SkillTemplate = {
  name: "skill-with-script",
  makes: "skill",
  description: "A skill of instructions with a Python script as a tool of its own",
  parameters: closed({
    ...properties,
    tool: {
      type: "string",
      pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
      maxLength: 64,
      default: "count-text",
      description: "The name of its tool",
    },
  }),
  toDraft({ name, description, values }) {
    const given = values as unknown as SkillValues & { readonly tool: string };
    const { argument, example } = { argument: "text", example: "one two\nthree" };
    const tool = scriptPython.toDraft({ name: given.tool, values: { argument, example } });
    return {
      name,
      description: toDescription(description, given),
      instructions: `${renderInstructions(given)}\n\n## Tools\n\nplugin:${name}/${given.tool} counts the characters, words and lines of a text.`,
      tools: [tool] as NonNullable<SkillDraft["tools"]>,
    };
  },
};

function toDescription(description: string | undefined, { purpose }: SkillValues): string {
  return description ?? `Helps with ${purpose.replaceAll(/[<>]/gu, "")}. Use it whenever that is asked for.`;
}

/** What is in a step is words, never a heading or a list of its own: it is one line. */
function renderInstructions({ purpose, steps }: SkillValues): string {
  const lines = steps.map((step, index) => `${index + 1}. ${step}`);
  return `This skill is for ${purpose}.\n\n## What to do\n\n${lines.join("\n")}`;
}
