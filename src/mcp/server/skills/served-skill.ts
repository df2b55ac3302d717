import { isUtf8 } from "node:buffer";

import { ProtocolError, ProtocolErrorCode, type ReadResourceResult, type Resource } from "@modelcontextprotocol/server";
import {
  DIRECTORY_MIME_TYPE,
  SKILL_LIMITS,
  skillEntry,
  type Skill as SkillEntry,
} from "@modelcontextprotocol/server/ext/skills";

import type { Skill, SkillFile, SkillFolder } from "../../../core/skill.ts";
import { toDigest } from "../../../platform/digest.ts";
import { readListed } from "../../../workspace/dispatch/skill-dispatch.ts";
import { compareTexts } from "../resources/page-items.ts";
import { skillRoot, toServedName, toSkillUri } from "./skill-uri.ts";

/** One file of a skill that clients can read. */
export interface ServedFile {
  readonly uri: string;
  readonly path: string;
  readonly mimeType: string;
  readonly size: number;
  readonly digest: string;
  /** The bytes that were published; `undefined` if they are not there any more. */
  read(): Uint8Array | undefined;
}

/** A skill as clients of the extension see it. It never changes: a skill that changes is another one. */
export interface ServedSkill {
  readonly skill: Skill;
  readonly name: string;
  readonly entry: SkillEntry;
  /** How its SKILL.md is listed. */
  readonly resource: Resource;
  /** By URI. */
  readonly files: ReadonlyMap<string, ServedFile>;
  /** What is in each of its folders, by URI and in order. */
  readonly folders: ReadonlyMap<string, readonly Resource[]>;
}

/** The one file that every skill has. */
const documentPath = "SKILL.md";

/**
 * Makes what is served of a skill: its own files with their digests, and a SKILL.md that clients accept. Reads SKILL.md only.
 * Answers `undefined` for what cannot be served at all: a skill beyond the limits, or with a file name that no URI can hold.
 */
export async function createServedSkill(skill: Skill, name: string): Promise<ServedSkill | undefined> {
  if (!isWithinLimits(skill)) return undefined;
  const document = (await readDocument(skill, name)) ?? (await renderDocument(skill, name));
  if (document === undefined) return undefined;
  const files = toFiles(skill, name, document.file);
  if (files === undefined) return undefined;
  const resources = files.map(({ uri, digest, size }) => ({ uri, digest, size }));
  const { frontmatter, uri } = document.entry;
  return {
    skill,
    name,
    entry: { uri, frontmatter, resources },
    resource: {
      uri,
      name: frontmatter.name,
      title: skill.displayName ?? skill.name,
      description: frontmatter.description,
      mimeType: document.file.mimeType,
      size: document.file.size,
    },
    files: new Map(files.map((file) => [file.uri, file])),
    folders: toFolders(name, files),
  };
}

/** Whether a skill is small enough for the extension; the tools that read skills know no such limit. */
export function isWithinLimits({ folder }: Skill): boolean {
  const files = folder?.files ?? [];
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  // The document may be one more, and written anew.
  return files.length < SKILL_LIMITS.files && bytes < SKILL_LIMITS.bytes;
}

/**
 * How a client on another machine names the folder of a skill: by the URI of its files where they are served, or else relative to it, as
 * `read_skill_file` takes them.
 */
export function toRemoteDirectory(skill: Skill): string {
  return isWithinLimits(skill) ? toSkillUri(toServedName(skill.name)) : ".";
}

interface Document {
  readonly entry: SkillEntry;
  readonly file: ServedFile;
}

/** The skill's own SKILL.md, if it is one that clients accept under this name. */
async function readDocument({ folder }: Skill, name: string): Promise<Document | undefined> {
  const file = folder?.files.find(({ path }) => path === documentPath);
  const bytes = folder && file && readListed(folder, file);
  if (folder === undefined || file === undefined || bytes === undefined) return undefined;
  const entry = await toEntry(name, bytes);
  return entry && !hasReserved(entry) ? { entry, file: toFile(name, folder, file) } : undefined;
}

/** Some keys of `metadata` are for the protocol alone. */
function hasReserved({ frontmatter }: SkillEntry): boolean {
  return Object.keys(frontmatter["metadata"] ?? {}).some((key) => key.startsWith("io.modelcontextprotocol/"));
}

async function renderDocument(skill: Skill, name: string): Promise<Document | undefined> {
  const bytes = new TextEncoder().encode(renderSkillDocument(skill, name));
  const entry = await toEntry(name, bytes);
  if (entry === undefined) return undefined;
  const { mimeType, uri } = { mimeType: toMimeType(documentPath), uri: toSkillUri(name, documentPath) };
  const digest = toDigest(bytes);
  return { entry, file: { uri, path: documentPath, mimeType, size: bytes.length, digest, read: () => bytes } };
}

/** What the front matter says, read as clients will read it to compare. */
async function toEntry(name: string, document: Uint8Array): Promise<SkillEntry | undefined> {
  try {
    return await skillEntry(name, { [documentPath]: document }, { baseUri: skillRoot });
  } catch {
    return undefined;
  }
}

function toFile(name: string, folder: SkillFolder, file: SkillFile): ServedFile {
  const { path, bytes: size, digest } = file;
  const uri = toSkillUri(name, path);
  return { uri, path, mimeType: toMimeType(path), size, digest, read: () => readListed(folder, file) };
}

function toFiles({ folder }: Skill, name: string, document: ServedFile): ServedFile[] | undefined {
  const others = (folder?.files ?? []).filter(({ path }) => path !== documentPath);
  // An unpaired surrogate has no place in a URI; leaving out one file would make the list a lie.
  if (folder === undefined || !others.every(({ path }) => path.isWellFormed())) {
    return others.length === 0 ? [document] : undefined;
  }
  const files = [document, ...others.map((file) => toFile(name, folder, file))];
  return files.toSorted((left, right) => compareTexts(left.uri, right.uri));
}

function toFolders(name: string, files: readonly ServedFile[]): ReadonlyMap<string, readonly Resource[]> {
  const folders = new Map<string, Map<string, Resource>>();
  const childrenOf = (path: string): Map<string, Resource> => {
    const uri = toSkillUri(name, path);
    const known = folders.get(uri) ?? new Map<string, Resource>();
    folders.set(uri, known);
    return known;
  };
  for (const { path, uri, mimeType, size } of files) {
    const segments = path.split("/");
    for (const [depth, segment] of segments.entries()) {
      const isFile = depth === segments.length - 1;
      const here = isFile ? uri : toSkillUri(name, segments.slice(0, depth + 1).join("/"));
      const facts = isFile ? { mimeType, size } : { mimeType: DIRECTORY_MIME_TYPE };
      childrenOf(segments.slice(0, depth).join("/")).set(here, { uri: here, name: segment, ...facts });
    }
  }
  return new Map(
    [...folders].map(([uri, children]) => [
      uri,
      [...children.values()].toSorted((left, right) => compareTexts(left.uri, right.uri)),
    ]),
  );
}

/**
 * Reads a file of a skill, byte for byte as it was published.
 *
 * @throws {ProtocolError} `InternalError` if it is not the same any more.
 */
export function readServedFile({ uri, mimeType, read }: ServedFile): ReadResourceResult["contents"][number] {
  const bytes = read();
  if (bytes === undefined) {
    const message = `Cannot read ${uri}: it changed since it was listed; list the skills again`;
    throw new ProtocolError(ProtocolErrorCode.InternalError, message);
  }
  if (!isUtf8(bytes)) return { uri, mimeType, blob: Buffer.from(bytes).toString("base64") };
  // A byte order mark is one of the bytes that the digest is of.
  return { uri, mimeType, text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
}

const longestDescription = 1024;

/**
 * Writes the SKILL.md of a skill that has none which clients accept: one that is defined in code, or whose own file is more than the
 * specification allows.
 */
function renderSkillDocument(skill: Skill, servedName: string): string {
  const { name, version } = skill;
  const metadata = { ...(name !== servedName && { "kitbag-skill": name }), ...(version !== undefined && { version }) };
  const lines = [
    "---",
    `name: ${servedName}`,
    `description: ${quote(toDescription(skill))}`,
    ...(Object.keys(metadata).length > 0 ? ["metadata:"] : []),
    ...Object.entries(metadata).map(([key, value]) => `  ${key}: ${quote(value)}`),
    "---",
    "",
  ];
  return `${lines.join("\n")}${skill.instructions.toWellFormed()}`;
}

function toDescription({ name, description }: Skill): string {
  const text = description.toWellFormed().trim();
  const characters = Array.from(text === "" ? `The skill ${name}` : text);
  return characters.length <= longestDescription
    ? characters.join("")
    : `${characters.slice(0, longestDescription - 1).join("")}…`;
}

/** JSON text is YAML too, whatever is in it. */
function quote(text: string): string {
  return JSON.stringify(text);
}

const types: ReadonlyMap<string, string> = new Map([
  ["bash", "application/x-sh"],
  ["css", "text/css"],
  ["csv", "text/csv"],
  ["gif", "image/gif"],
  ["htm", "text/html"],
  ["html", "text/html"],
  ["jpeg", "image/jpeg"],
  ["jpg", "image/jpeg"],
  ["js", "text/javascript"],
  ["json", "application/json"],
  ["markdown", "text/markdown"],
  ["md", "text/markdown"],
  ["mjs", "text/javascript"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["py", "text/x-python"],
  ["sh", "application/x-sh"],
  ["svg", "image/svg+xml"],
  ["toml", "application/toml"],
  ["ts", "text/typescript"],
  ["txt", "text/plain"],
  ["wasm", "application/wasm"],
  ["webp", "image/webp"],
  ["xml", "application/xml"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
]);

/** The media type of a file, by the ending of its name; `application/octet-stream` if that says nothing. */
function toMimeType(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  const ending = dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
  return types.get(ending) ?? "application/octet-stream";
}
