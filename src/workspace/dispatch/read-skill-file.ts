import { isUtf8 } from "node:buffer";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Skill, SkillFile, SkillFolder } from "../../core/skill.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { toDigest } from "../../platform/digest.ts";
import { readPage } from "../outputs/read-page.ts";
import { createDispatchTool, done, type DispatchTool } from "./dispatch-tool.ts";
import type { DispatchView } from "./dispatch-view.ts";

interface ReadInput {
  readonly skill: string;
  readonly path: string;
  readonly offset: number;
}

const fileProperties = {
  skill: { type: "string", minLength: 1, description: "The name of the skill" },
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
