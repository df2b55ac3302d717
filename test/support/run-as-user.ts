/** Runs programs of the tests as an ordinary user, as whom nothing of this machine can be changed. */
import { spawn } from "node:child_process";
import { chownSync, closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";

const project = resolve(import.meta.dirname, "../..");
/** A user that no other program is. */
const user = 61_234;

/**
 * Runs a program of this repository to its end, with a home and a directory for temporary files of its own; answers with what it
 * printed. It is started with a descriptor that was left open.
 */
export async function runAsUser(program: string, argv: readonly string[]): Promise<string> {
  const own = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-user-")));
  mkdirSync(join(own, "home"));
  const ids = process.getuid?.() === 0 ? { uid: user, gid: user } : {};
  if (ids.uid !== undefined) for (const path of [own, join(own, "home")]) chownSync(path, user, user);
  const forgotten = openSync(ids.uid === undefined ? "/dev/zero" : "/etc/shadow", "r");
  const child = spawn(process.execPath, ["--conditions=@kitbag/source", join(project, program), ...argv], {
    ...ids,
    cwd: own,
    env: { PATH: "/usr/bin:/bin", HOME: join(own, "home"), TMPDIR: own },
    stdio: ["ignore", "pipe", "pipe", "ignore", "ignore", "ignore", "ignore", forgotten],
  });
  closeSync(forgotten);
  const [output, complaints] = await Promise.all(
    [child.stdout, child.stderr].map((stream) => text(stream ?? Readable.from([]))),
  );
  rmSync(own, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  if (output === undefined || output === "") throw new Error(complaints);
  return output;
}
