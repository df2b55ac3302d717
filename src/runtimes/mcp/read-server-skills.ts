import { existsSync } from "node:fs";
import { dirname } from "node:path";

import { describeCause } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import { replaceFolder } from "../../platform/files.ts";
import { makeHomeFolder } from "../../platform/home.ts";
import type { McpConnection } from "./connect-server.ts";
import type { KeptContent } from "./kept-content.ts";

/** A file of a skill that a server has. */
export interface ServedFile {
  /** In the skill's folder, with `/`. */
  readonly path: string;
  readonly digest: string;
  readonly bytes: number;
}

/** A skill that a server has, as it was read and verified. All of it is data: nothing of it runs. */
export interface ServedSkill {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly files: readonly ServedFile[];
}

/** What was read of the skills of a server. */
export interface ServedSkills {
  /** With the digest under which each is kept. */
  readonly skills: readonly { readonly skill: ServedSkill; readonly digest: string }[];
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

const mostSkills = 100;
const mostFiles = 512;
const mostBytes = 16 * 1024 * 1024;

/**
 * Reads all skills of a server by the skills extension, and keeps their files. A skill with a file that is not what the server says
 * it is, or whose files the server does not list, is refused. Runs nothing.
 */
export async function readServerSkills({ client }: McpConnection, kept: KeptContent): Promise<ServedSkills> {
  const { SkillsClient } = await import("@modelcontextprotocol/client/ext/skills");
  const reader = new SkillsClient(client, { skipInvalid: true });
  if (!reader.supported) return { skills: [], refused: [] };
  const listing = await reader.list();
  const refused = listing.invalid.map(({ uri, index, reason }) => ({ name: uri ?? `number ${index + 1}`, reason }));
  const skills: { skill: ServedSkill; digest: string }[] = [];
  for (const [index, entry] of listing.skills.entries()) {
    try {
      if (index >= mostSkills) throw new Error(`only ${mostSkills} skills of a server are read`);
      const skill = await readSkill(entry, (path) => reader.read(entry, path), kept);
      skills.push({ skill, digest: kept.writeJson(skill as unknown as JsonValue) });
    } catch (cause) {
      refused.push({ name: entry.uri, reason: describeCause(cause) });
    }
  }
  return { skills, refused };
}

interface Entry {
  readonly uri: string;
  readonly frontmatter: Readonly<Record<string, unknown>>;
  readonly resources: "dynamic" | readonly { readonly uri: string; readonly digest: string; readonly size: number }[];
}

type Read = (uri: string) => Promise<{ readonly bytes: Uint8Array; readonly verified: boolean }>;

async function readSkill({ uri, frontmatter, resources }: Entry, read: Read, kept: KeptContent): Promise<ServedSkill> {
  if (resources === "dynamic") throw new Error("the server does not say which files it has, so they cannot be checked");
  if (resources.length > mostFiles) throw new Error(`it has more than ${mostFiles} files`);
  if (resources.reduce((sum, { size }) => sum + size, 0) > mostBytes)
    throw new Error(`it has more than ${mostBytes} bytes`);
  const { name, description } = frontmatter as JsonObject;
  if (typeof name !== "string" || typeof description !== "string") throw new Error("it has no name or no description");
  const files: ServedFile[] = [];
  for (const resource of resources) {
    const path = toInnerPath(uri, resource.uri);
    const { bytes, verified } = await read(resource.uri);
    const digest = kept.write(bytes);
    if (!verified || digest !== resource.digest) throw new Error(`${resource.uri} is not what the server says it is`);
    files.push({ path, digest, bytes: bytes.length });
  }
  return { uri, name, description, files };
}

/** Where a file is in the folder of its skill; one that would be elsewhere is refused. */
function toInnerPath(skill: string, file: string): string {
  const base = skill.replace(/[^/]*$/u, "");
  const path = file.startsWith(base) ? decodeURIComponent(file.slice(base.length)) : "";
  const isInner = path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
  if (!isInner || /[\\\0]/u.test(path)) throw new Error(`the file ${file} is not in its folder`);
  return path;
}

/**
 * Writes the files of a skill of a server to a folder of their own, unless they are there already. Answers with the folder; nothing if
 * not all of them are kept here.
 */
export function writeServerSkill(skill: ServedSkill, kept: KeptContent, target: string): string | undefined {
  if (existsSync(target)) return target;
  const files = new Map<string, Uint8Array>();
  for (const { path, digest } of skill.files) {
    const bytes = kept.read(digest);
    if (bytes === undefined) return undefined;
    files.set(path, bytes);
  }
  makeHomeFolder(dirname(target));
  replaceFolder(target, files);
  return target;
}
