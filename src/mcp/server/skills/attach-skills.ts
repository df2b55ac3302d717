import type { McpServer, Resource } from "@modelcontextprotocol/server";
import { SkillsExtension, type SkillReadResult, type SkillSource } from "@modelcontextprotocol/server/ext/skills";

import type { Skill } from "../../../core/skill.ts";
import { createDispatchView } from "../../../workspace/dispatch/dispatch-view.ts";
import { isTrusted } from "../../../workspace/skills/render-skills.ts";
import type { ServedClient } from "../client.ts";
import { compareTexts, pageItems } from "../resources/page-items.ts";
import { createServedSkill, readServedFile, type ServedFile, type ServedSkill } from "./served-skill.ts";
import { parseSkillUri, skillRoot, toServedName } from "./skill-uri.ts";

/** How long a client may use what it read of skills; it hears of changes before, if it listens. */
const cacheHint = { ttlMs: 30_000, cacheScope: "private" } as const;

const attached = new WeakSet<McpServer>();

/**
 * Serves the skills of a client by the extension `io.modelcontextprotocol/skills`. Before the server is connected; doing it again
 * changes nothing.
 */
export function attachSkills(mcp: McpServer, client: ServedClient): void {
  if (attached.has(mcp)) return;
  attached.add(mcp);
  new SkillsExtension({ source: createSkillSource(client), baseUri: skillRoot, cacheHint }).attach(mcp);
}

function createSkillSource(client: ServedClient): SkillSource {
  return {
    async list({ cursor }) {
      const { skills } = await openShelf(client);
      const { items, nextCursor } = pageItems(skills, cursor, { keyOf: (one) => one.entry.uri });
      return { skills: items.map((one) => one.entry), ...(nextCursor !== undefined && { nextCursor }) };
    },
    async get(uri) {
      const shelf = await openShelf(client);
      return shelf.find(uri)?.entry;
    },
    async read(uri) {
      const shelf = await openShelf(client);
      const file = shelf.findFile(uri);
      return file && toReadResult(readServedFile(file));
    },
    async readDirectory(uri, { cursor }) {
      const shelf = await openShelf(client);
      const children = shelf.findFolder(uri);
      if (children === undefined) return undefined;
      const { items, nextCursor } = pageItems(children, cursor, { keyOf: (child) => child.uri });
      return { resources: [...items], ...(nextCursor !== undefined && { nextCursor }) };
    },
  };
}

function toReadResult({ mimeType, ...content }: ReturnType<typeof readServedFile>): SkillReadResult {
  const type = mimeType === undefined ? {} : { mimeType };
  if ("text" in content) return { text: content.text, ...type };
  return { bytes: Buffer.from(content.blob, "base64"), ...type };
}

/** The skills that a client can read, as they are now. */
interface SkillShelf {
  /** In the order of their URIs. */
  readonly skills: readonly ServedSkill[];
  /** By the URI of its SKILL.md. */
  find(uri: string): ServedSkill | undefined;
  findFile(uri: string): ServedFile | undefined;
  findFolder(uri: string): readonly Resource[] | undefined;
}

/** Each skill is read once, however many clients ask. */
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

/** The skills that a model may know of, with this caller: the session has no others. */
export function findVisibleSkills({ session }: Pick<ServedClient, "session">): readonly Skill[] {
  return createDispatchView(session).skills();
}
