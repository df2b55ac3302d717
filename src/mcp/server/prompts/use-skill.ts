import type { Skill } from "../../../core/skill.ts";
import { readListed } from "../../../workspace/dispatch/skill-dispatch.ts";
import type { ServedClient } from "../client.ts";
import { isTrusted } from "../../../workspace/skills/render-skills.ts";
import { createPromptWords } from "../shown-tools.ts";

/** The prompt that gives the text of any skill. */
export const useSkillName = "use_skill";

/** Whether there is a skill that may be used. Does not read whether its author meant it for people. */
export function hasUsableSkills({ session }: ServedClient): boolean {
  return session.getSkills().some(({ skill }) => isTrusted(skill));
}

/** The skills that a person may use, those that a model may not open by itself among them. */
export async function findUsableSkills({ session }: ServedClient): Promise<readonly Skill[]> {
  // The reader of documents is large, and most clients never ask.
  const { parseSkillDocument } = await import("../../../skills/document/parse-skill-document.ts");
  /** What `user-invocable` in SKILL.md says. */
  const readForPeople = ({ folder }: Skill): boolean => {
    const file = folder?.files.find(({ path }) => /^skill\.md$/iu.test(path));
    const bytes = folder && file && readListed(folder, file);
    return bytes === undefined || parseSkillDocument(bytes).document?.userInvocable !== false;
  };
  return session
    .getSkills()
    .map(({ skill }) => skill)
    .filter((skill) => isTrusted(skill) && isForPeople(skill, readForPeople));
}

/** Each file is read once. */
const forPeople = new WeakMap<Skill, boolean>();

function isForPeople(skill: Skill, read: (skill: Skill) => boolean): boolean {
  const known = forPeople.get(skill) ?? read(skill);
  forPeople.set(skill, known);
  return known;
}

/** How a skill is used once. */
export interface UseOptions {
  readonly arguments: string;
  readonly signal: AbortSignal;
}

/**
 * Writes the text for one use of a skill. One that only people open is opened here, because the model cannot.
 *
 * @throws {KitbagError} `skill-not-found`
 */
export async function renderSkillUse(client: ServedClient, skill: Skill, options: UseOptions): Promise<string> {
  const { session, caller } = client;
  const { signal } = options;
  const isOpen = (): boolean => session.getActiveSkills().includes(skill.name);
  if (!skill.modelInvocable && !isOpen()) await session.activateSkill(skill.name, { signal });
  const text = await session.invokeSkill(skill.name, options.arguments, { signal, user: caller.id });
  const note = describeTools(client, skill, isOpen());
  return note === "" ? text : `${text}\n\n${note}`;
}

function describeTools(client: ServedClient, skill: Skill, isOpen: boolean): string {
  if (skill.tools.length === 0 && skill.reuses.length === 0) return "";
  if (isOpen) return `The tools of the skill ${skill.name} can be called now.`;
  const words = createPromptWords(client);
  return skill.modelInvocable && words.has("activate_skill")
    ? `Open the skill with ${words.name("activate_skill")} ({ "name": "${skill.name}" }) before you call its tools.`
    : `The tools of the skill ${skill.name} cannot be called from here.`;
}
