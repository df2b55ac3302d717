import type { Resource } from "@modelcontextprotocol/server";

import type { Skill } from "../../../core/skill.ts";
import { compareTexts } from "../resources/page-items.ts";
import type { ServedClient } from "../client.ts";
import { toServedName } from "./served-name.ts";
import { createServedSkill, type ServedFile, type ServedSkill } from "./served-skill.ts";
import { parseSkillUri } from "./skill-uri.ts";
import { isTrusted } from "../../../workspace/skills/render-skills.ts";
import { findVisibleSkills } from "./visible-skills.ts";

/** The skills that a client can read, as they are now. */
export interface SkillShelf {
  /** In the order of their URIs. */
  readonly skills: readonly ServedSkill[];
  /** By the URI of its SKILL.md. */
  find(uri: string): ServedSkill | undefined;
  findFile(uri: string): ServedFile | undefined;
  findFolder(uri: string): readonly Resource[] | undefined;
}

/** Each skill is looked at once, however many clients ask. */
const served = new WeakMap<Skill, Promise<ServedSkill | undefined>>();

/** The last shelf of each workspace: most clients see the same. */
const shelves = new WeakMap<object, { readonly skills: readonly Skill[]; readonly shelf: Promise<SkillShelf> }>();

/** Opens the shelf of a client. It is made anew only after a skill came, changed or went. */
export function openShelf(client: Pick<ServedClient, "workspace" | "session">): Promise<SkillShelf> {
  const skills = findVisibleSkills(client).filter(isTrusted);
  const known = shelves.get(client.workspace);
  if (known !== undefined && isSame(known.skills, skills)) return known.shelf;
  const shelf = createShelf(skills);
  shelves.set(client.workspace, { skills, shelf });
  return shelf;
}

function isSame(left: readonly Skill[], right: readonly Skill[]): boolean {
  return left.length === right.length && left.every((skill, index) => skill === right[index]);
}

async function createShelf(skills: readonly Skill[]): Promise<SkillShelf> {
  const all = await Promise.all(skills.map(serve));
  // A name that was made of another one gives way to a skill that really has it.
  const ordered = all
    .filter((one) => one !== undefined)
    .toSorted((left, right) => Number(left.name !== left.skill.name) - Number(right.name !== right.skill.name));
  const byUri = new Map<string, ServedSkill>();
  for (const one of ordered) if (!byUri.has(one.entry.uri)) byUri.set(one.entry.uri, one);
  const shown = [...byUri.values()].toSorted((left, right) => compareTexts(left.entry.uri, right.entry.uri));
  const files = new Map(shown.flatMap((one) => [...one.files]));
  const folders = new Map(shown.flatMap((one) => [...one.folders]));
  const lookUp =
    <Value>(values: ReadonlyMap<string, Value>) =>
    (uri: string): Value | undefined =>
      values.get(parseSkillUri(uri) ?? "");
  return { skills: shown, find: lookUp(byUri), findFile: lookUp(files), findFolder: lookUp(folders) };
}

function serve(skill: Skill): Promise<ServedSkill | undefined> {
  const known = served.get(skill);
  if (known !== undefined) return known;
  const made = createServedSkill(skill, toServedName(skill.name));
  served.set(skill, made);
  return made;
}
