import { stringify } from "yaml";

/** What is known about a skill before it is written. */
export interface NewSkill {
  readonly name: string;
  /** The name as a heading: `Csv report`. */
  readonly title: string;
  readonly description: string;
}

/** A file of a new skill. */
export interface TemplateFile {
  /** Relative to the skill's folder, with `/`. */
  readonly path: string;
  readonly content: string | Uint8Array;
  /** A program that can be started by its name. */
  readonly executable?: true;
}

/** A kind of skill to start from. */
export interface SkillTemplate {
  readonly name: string;
  /** What it is good for, in a few words. */
  readonly summary: string;
  /** A call of its tool that can be tried at once, on a file of the working directory: the tool and its flags. @default it has no tool */
  firstCall?(file: string): string;
  render(skill: NewSkill): readonly TemplateFile[];
}

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

/** A text that the commands in SKILL.md work on when they are tested. */
export const testNotes: TemplateFile = { path: "evals/files/notes.txt", content: "buy milk\nbread\ncall Ann\n" };
