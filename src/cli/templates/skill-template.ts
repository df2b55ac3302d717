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
  readonly content: string;
  /** A program that can be started by its name. */
  readonly executable?: true;
}

/** A kind of skill to start from. */
export interface SkillTemplate {
  readonly name: string;
  /** What it is good for, in a few words. */
  readonly summary: string;
  render(skill: NewSkill): readonly TemplateFile[];
}
