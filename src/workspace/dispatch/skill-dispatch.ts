import { isUtf8 } from "node:buffer";
import { join } from "node:path";

import type { JsonObject } from "../../core/json.ts";
import type { Skill, SkillFile, SkillFolder } from "../../core/skill.ts";
import type { CallOptions } from "../call/call-options.ts";
import { describeSkill, renderInstructions } from "../skills/render-skills.ts";
import { createDispatchTool, done, failed, type DispatchTool } from "./dispatch-tool.ts";
import { toDeclaration, type DispatchView } from "./dispatch-view.ts";
import { firstLine } from "./tool-dispatch.ts";
import { KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { toDigest } from "../../platform/digest.ts";
import { readPage } from "../outputs/read-output.ts";

const readOnly = { readOnly: true, idempotent: true } as const;
const ofSkill = { name: { type: "string", minLength: 1 } } as const;

const listProperties = {
  offset: { type: "integer", minimum: 0, default: 0, description: "Where to go on: next of the answer before" },
} as const;

/** Makes the tool that lists skills. */
export function listSkills(view: DispatchView): DispatchTool {
  return createDispatchTool({
    name: "list_skills",
    description:
      "Lists all skills: instructions and tools for one kind of work each. Open one with activate_skill before such work.",
    properties: listProperties,
    annotations: readOnly,
    run(input) {
      const offset = input["offset"] as number;
      const all = view.skills();
      const open = new Set(view.session.getActiveSkills());
      const next = offset + pageLength;
      const skills = all.slice(offset, next).map((skill) => ({
        name: skill.name,
        description: firstLine(describeSkill(skill)),
        open: open.has(skill.name),
      }));
      return done({ skills, ...(next < all.length && { next, count: all.length }) });
    },
  });
}

/** How many skills are on one page of the list. */
const pageLength = 50;

/** The maximum number of files that are listed with a skill. */
const mostFiles = 200;

/** Makes the tool that reads a skill without opening it. */
export function readSkill(view: DispatchView): DispatchTool {
  return createDispatchTool({
    name: "read_skill",
    description:
      "Reads a skill without opening it: its instructions, its tools and its files. To do what it says, open it with activate_skill.",
    properties: ofSkill,
    required: ["name"],
    annotations: readOnly,
    run(input) {
      const skill = view.findReadable(nameIn(input));
      const files = skill.folder?.files ?? [];
      return done({
        name: skill.name,
        description: skill.description,
        open: view.isOpen(skill.name),
        // Reading runs nothing: commands in the text stay as they are written.
        instructions: renderInstructions(skill, (address) => view.getTool(address)?.wireName, ""),
        tools: skill.tools.map((tool) => ({ name: tool.name, description: firstLine(tool.description) })),
        files: files.slice(0, mostFiles).map(({ path, bytes }) => ({ path, bytes })),
        ...(files.length > mostFiles && { moreFiles: files.length - mostFiles }),
      });
    },
  });
}

/** Makes the tool that opens a skill. */
export function activateSkill(view: DispatchView): DispatchTool {
  return createDispatchTool({
    name: "activate_skill",
    description:
      "Opens a skill and answers with its instructions; its tools can be called from now on. Do it as soon as the work is what the skill is for.",
    properties: ofSkill,
    required: ["name"],
    annotations: { idempotent: true },
    run: (input, context) => activate(view, view.findSkill(nameIn(input)), context),
  });
}

async function activate(
  { session }: DispatchView,
  skill: Skill,
  context: CallOptions,
): ReturnType<DispatchTool["run"]> {
  const { signal, user, approve, approveIfNobody, refuse, scopes, onEvent } = context;
  const outcome = await session.activateSkill(skill.name, signal === undefined ? {} : { signal });
  if (outcome.status === "failed") return failed(outcome.error);
  const { opened, closed, warnings } = outcome;
  const owners = new Set([skill.name, ...opened]);
  const tools = session.getActiveSkillTools().filter((entry) => owners.has(entry.owner));
  const instructions = await session.invokeSkill(skill.name, "", {
    ...(signal !== undefined && { signal }),
    ...(user !== undefined && { user }),
    ...(approve !== undefined && { approve }),
    ...(approveIfNobody !== undefined && { approveIfNobody }),
    ...(refuse !== undefined && { refuse }),
    ...(scopes !== undefined && { scopes }),
    ...(onEvent !== undefined && { onEvent }),
  });
  return done({
    instructions,
    tools: tools.map(toDeclaration),
    opened,
    closed,
    ...(warnings.length > 0 && { warnings: warnings.map(({ message }) => message) }),
  });
}

/** Makes the tool that closes a skill. */
export function deactivateSkill(view: DispatchView): DispatchTool {
  return createDispatchTool({
    name: "deactivate_skill",
    description: "Closes a skill that is no longer needed; its tools cannot be called any more.",
    properties: ofSkill,
    required: ["name"],
    annotations: { idempotent: true },
    async run(input, { signal }) {
      const skill = view.findSkill(nameIn(input));
      const outcome = await view.session.deactivateSkill(skill.name, signal === undefined ? {} : { signal });
      if (outcome.status === "failed") return failed(outcome.error);
      const { closed, warnings } = outcome;
      return done({ closed, ...(warnings.length > 0 && { warnings: warnings.map(({ message }) => message) }) });
    },
  });
}

function nameIn(input: JsonObject): string {
  return input["name"] as string;
}

interface ReadInput {
  readonly skill: string;
  readonly path: string;
  readonly offset: number;
}

const fileProperties = {
  skill: { type: "string", minLength: 1 },
  path: {
    type: "string",
    minLength: 1,
    description: "As read_skill lists it, relative to the folder of the skill",
  },
  offset: { type: "integer", minimum: 0, default: 0, description: "Where to go on: nextOffset of the page before" },
} as const;

/** Makes the tool that reads a file of a skill, page by page. Only files that the skill lists can be read, as they were listed. */
export function readSkillFile(view: DispatchView, pageBytes: number): DispatchTool {
  return createDispatchTool({
    name: "read_skill_file",
    description: "Reads a file of a skill that its instructions name, such as references/forms.md, page by page.",
    properties: fileProperties,
    required: ["skill", "path"],
    annotations: { readOnly: true, idempotent: true },
    async run(given) {
      const { skill: name, path, offset } = given as unknown as ReadInput;
      const skill = view.findReadable(name);
      const { folder, file } = findFile(skill, path);
      const bytes = readListed(folder, file);
      if (bytes === undefined) throw new KitbagError("skill-file-changed", { skill: name, path });
      if (!isText(bytes)) return done({ path, bytes: bytes.length, binary: true });
      return done({ path, ...(await toPage(bytes, offset, pageBytes)) });
    },
  });
}

/** What is not in the list is not there, however its path is written. */
function findFile(skill: Skill, path: string): { readonly folder: SkillFolder; readonly file: SkillFile } {
  const { folder } = skill;
  const files = folder?.files ?? [];
  const wanted = path.replace(/^\.\//u, "");
  const file = files.find((one) => one.path === wanted);
  if (folder !== undefined && file !== undefined) return { folder, file };
  const nearest = nearestNames(
    wanted,
    files.map((one) => one.path),
  );
  throw new KitbagError("skill-file-missing", { skill: skill.name, path, nearest, count: files.length });
}

/**
 * The bytes that were listed. A link inside the folder is listed with the bytes of the file it leads to, which is listed too, and
 * is read in its place: no link is followed.
 */
export function readListed({ directory, files }: SkillFolder, { digest }: SkillFile): Uint8Array | undefined {
  for (const same of files) {
    if (same.digest !== digest) continue;
    const path = join(directory, same.path);
    const reading = readRegularFile(path, { maxBytes: same.bytes, mustBe: path });
    if (reading.ok && toDigest(reading.bytes) === digest) return reading.bytes;
  }
  return undefined;
}

function isText(bytes: Uint8Array): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

async function toPage(bytes: Uint8Array, offset: number, length: number): Promise<object> {
  const pages = {
    slice: async (_digest: string, from: number, count: number) => bytes.subarray(from, from + count),
    size: async () => bytes.length,
  };
  return { ...(await readPage(pages, "", { offset, length })) };
}
