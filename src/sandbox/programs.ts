import { createHash, randomUUID } from "node:crypto";
import { constants, existsSync, realpathSync, statSync, type Stats } from "node:fs";
import { chmod, copyFile, link, mkdir, rename, rm } from "node:fs/promises";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";

const systemDirectories = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin", "/usr/local/sbin"];

/** Programs that every script may count on: they read and write text and files, and reach nothing that the script could not. */
const basicPrograms = `
  sh bash dash env cat ls cp mv rm mkdir rmdir ln touch chmod head tail cut sort uniq wc tr tee grep egrep fgrep sed awk gawk mawk
  find xargs basename dirname realpath readlink date sleep seq printf echo test [ expr true false yes mktemp stat du df pwd id whoami
  uname hostname nproc paste join comm split csplit nl od hexdump xxd base32 base64 md5sum sha1sum sha256sum sha512sum cksum sum tac
  rev fold fmt pr column diff cmp patch tar gzip gunzip zcat bzip2 bunzip2 xz unxz which timeout nice nohup getopt kill tty bc dc
  factor shuf truncate dd install numfmt tsort expand unexpand logname locale iconv getconf printenv arch sync mkfifo stdbuf prlimit
`
  .trim()
  .split(/\s+/u);

/** Whether a program is in every sandbox. */
export function isBasicProgram(name: string): boolean {
  return basicPrograms.includes(name);
}

/** Where a program is, looking at the system's directories before `PATH`; undefined if it is nowhere. */
export function findProgram(name: string): string | undefined {
  if (isAbsolute(name)) return isProgram(name) ? name : undefined;
  if (name.includes("/")) return undefined;
  const directories = [...systemDirectories, ...(process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute)];
  return directories.map((directory) => join(directory, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    const facts = statSync(path);
    return facts.isFile() && (facts.mode & 0o111) !== 0;
  } catch {
    // It is not there, or in a directory that this user cannot enter.
    return false;
  }
}

/**
 * Makes a directory with the basic programs and those that are named, and nothing else: it becomes `/usr/bin` inside. They are
 * copies, so a program with special rights loses them; each is copied once for all directories. Absolute paths outside of the
 * system's directories are left to mounts.
 */
export async function gatherPrograms(names: readonly string[], kept: string): Promise<string> {
  const programs = toPrograms(names);
  const facts = [...programs].map(([name, { path, stats }]) => [name, path, stats.size, stats.mtimeMs]);
  const directory = join(kept, `programs-${digestOf(facts)}`);
  if (!existsSync(directory)) await linkPrograms(programs, directory, kept);
  return directory;
}

interface Program {
  readonly path: string;
  readonly stats: Stats;
}

function toPrograms(names: readonly string[]): Map<string, Program> {
  const programs = new Map<string, Program>();
  for (const name of [...basicPrograms, ...names]) {
    const found = findProgram(name);
    if (found === undefined || !systemDirectories.includes(dirname(found))) continue;
    const path = realpathSync(found);
    const program = { path, stats: statSync(path) };
    programs.set(basename(found), program);
    // `python3` looks for itself under its full name, too.
    if (systemDirectories.includes(dirname(path))) programs.set(basename(path), program);
  }
  return programs;
}

async function linkPrograms(programs: ReadonlyMap<string, Program>, directory: string, kept: string): Promise<void> {
  const making = nameUnfinished(directory);
  await mkdir(making);
  await chmod(making, 0o755);
  for (const [name, program] of programs) await link(await copyProgram(program.path, kept), join(making, name));
  try {
    await rename(making, directory);
  } catch {
    // Another process made the same at the same time.
    await rm(making, { recursive: true, force: true });
  }
}

/** Copies a program, once for all who want it. */
export async function copyProgram(path: string, kept: string): Promise<string> {
  const stats = statSync(path);
  const copy = join(kept, `program-${digestOf([path, stats.size, stats.mtimeMs])}`);
  if (existsSync(copy)) return copy;
  const making = nameUnfinished(copy);
  await copyFile(path, making, constants.COPYFILE_FICLONE);
  await chmod(making, 0o755);
  // An existing copy is never replaced: another process may be about to link to it.
  await link(making, copy).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EEXIST") throw cause;
  });
  await rm(making);
  return copy;
}

function nameUnfinished(path: string): string {
  return `${path}.${randomUUID()}`;
}

function digestOf(facts: unknown): string {
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 32);
}
