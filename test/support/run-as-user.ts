/** Runs programs of the tests as an ordinary user, as whom nothing of this machine can be changed. */
import { spawn, spawnSync } from "node:child_process";
import { chownSync, closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";

const project = resolve(import.meta.dirname, "../..");
/** A user that no other program is. */
const user = 61_234;

/** Shows the project at a place that every user can reach (the first word, at the second), and becomes the user. */
const become = `mount --bind "$1" "$2" && shift 2 && exec setpriv --reuid=${user} --regid=${user} --clear-groups -- "$@"`;

/**
 * Runs a program of this repository to its end, with a home and a directory for temporary files of its own; answers with what it
 * printed. It is started with a descriptor that was left open.
 */
export async function runAsUser(program: string, argv: readonly string[]): Promise<string> {
  const own = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-user-")));
  mkdirSync(join(own, "home"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const path of [own, join(own, "home")]) chownSync(path, user, user);
  const forgotten = openSync(isRoot ? "/etc/shadow" : "/dev/zero", "r");
  const [command = "", ...words] = asOrdinaryUser(own, toCommand(program));
  const child = spawn(command, [...words, ...argv], {
    cwd: own,
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: join(own, "home"), TMPDIR: own },
    stdio: ["ignore", "pipe", "pipe", "ignore", "ignore", "ignore", "ignore", forgotten],
  });
  closeSync(forgotten);
  const [output, complaints] = await Promise.all(
    [child.stdout, child.stderr].map((stream) => text(stream ?? Readable.from([]))),
  );
  // A program may have closed folders to its user.
  if (!isRoot) spawnSync("chmod", ["-R", "u+rwx", own]);
  rmSync(own, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  if (output === undefined || output === "") throw new Error(complaints);
  return output;
}

function toCommand(program: string): readonly string[] {
  return [process.execPath, "--conditions=@kitbag/source", join(project, program)];
}

/**
 * A command of this repository as an ordinary user runs it: as it is if this is one, else in a mount tree of its own, where the repository
 * is in `folder` as well. It may lie below a folder that only root can enter.
 */
export function asOrdinaryUser(folder: string, command: readonly string[]): readonly string[] {
  if (process.getuid?.() !== 0) return command;
  const shown = join(folder, "project");
  mkdirSync(shown);
  const tree = ["unshare", "--mount", "--propagation", "private", "--", "sh", "-c", become, "sh"];
  const isOurs = (word: string): boolean => word.startsWith(`${project}/`);
  return [
    ...tree,
    project,
    shown,
    ...command.map((word) => (isOurs(word) ? shown + word.slice(project.length) : word)),
  ];
}
