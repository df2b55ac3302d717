import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { isKitbagError } from "../../core/errors.ts";
import { toDigest } from "../../platform/digest.ts";
import { describeFileError } from "../../platform/files.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { isInside } from "../../platform/paths.ts";
import { findLinkOut } from "../../sandbox/find-link-out.ts";
import { projectFolders } from "../../skills/discovery/find-skills.ts";
import type { Digests } from "../../skills/trust/trust-format.ts";
import { updateTrust } from "../../skills/trust/trust-file.ts";
import { type CliContext, usageError } from "../cli-command.ts";
import { toPrintable } from "../printable.ts";
import type { TemplateFile } from "./skill-template.ts";

/** A project that came from elsewhere must not choose where its files are written. */
export function checkLink(cwd: string, path: string, cure = ""): void {
  const found = findLinkOut(cwd, path);
  if (found === undefined) return;
  throw usageError(
    `Cannot write ${path}: ${found.link} is a link that leads to ${found.target ?? "nothing"}; remove it${cure}`,
  );
}

/**
 * Writes files into a folder that is not there yet: all of them or nothing.
 *
 * @throws {KitbagError} `usage-invalid` if the folder is there, or cannot be written.
 */
export function writeFolder(folder: string, files: readonly TemplateFile[]): void {
  if (existsSync(folder))
    throw usageError(`Cannot write ${folder}: it is already there; choose another name, or move it away`);
  try {
    mkdirSync(dirname(folder), { recursive: true });
    // Fails if another program was faster.
    mkdirSync(folder);
  } catch (cause) {
    throw usageError(`Cannot write ${folder}: ${describeFileError(cause)}`);
  }
  try {
    for (const { path, content, executable } of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content, { flag: "wx", mode: executable === true ? 0o755 : 0o644 });
    }
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw usageError(`Cannot write ${folder}: ${describeFileError(cause)}`);
  }
}

/** What a command has just written. */
export interface Written {
  /** A skill, in one of the folders where the skills of a project are. */
  readonly skill?: { readonly folder: string; readonly files: readonly TemplateFile[] };
  readonly config?: { readonly path: string; readonly content: string };
}

/**
 * Trusts what this command has just written for the person, so that it runs at once: exactly these bytes, and not what is on the disk.
 * Answers whether it could; otherwise the reason is on standard error, and the files need `kitbag trust`.
 */
export async function trustWritten({ skill, config }: Written, { env, terminal }: CliContext): Promise<boolean> {
  try {
    await updateTrust(resolveKitbagHome(env), ({ configs, folders }) => {
      if (skill !== undefined) folders.set(realpathSync(skill.folder), digestsOf(skill.files));
      if (config === undefined) return;
      const path = realpathSync(config.path);
      configs.set(path, new Map([[path, digestOf(config.content)]]));
    });
    return true;
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    terminal.note(`${toPrintable(`Written, but not trusted: ${cause.message}`)}\n`);
    return false;
  }
}

/** Whether skills in `folder` are found without being named, so that they must be trusted to run. */
export function isProjectPlace(folder: string, cwd: string): boolean {
  return projectFolders(cwd).some((place) => isInside(resolve(folder), place));
}

function digestsOf(files: readonly TemplateFile[]): Digests {
  return new Map(files.map(({ path, content }) => [path, digestOf(content)]));
}

function digestOf(content: string | Uint8Array): string {
  return toDigest(typeof content === "string" ? Buffer.from(content) : content);
}
