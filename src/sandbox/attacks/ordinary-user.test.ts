import { spawn } from "node:child_process";
import { chownSync, closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";

import { describe, expect, test } from "vitest";

import { attacks } from "../../../test/support/attacks/all-attacks.ts";
import { corners as allCorners, programOf, type Corner } from "../../../test/support/attacks/arena.ts";
import { needProgram } from "../../../test/support/need-program.ts";

const project = resolve(import.meta.dirname, "../../..");
/** A user that no other program is. */
const user = 61_234;

type Problems = ReadonlyMap<string, unknown>;

/** Firejail runs for nobody whom the machine does not know, and such a user has processes that nobody counts apart. */
const corners = allCorners.filter(
  ({ sandbox, way }) => sandbox !== "firejail" && ["cold", "fork server"].includes(way),
);

// What runs as root takes other ways: it becomes somebody else first. If these tests are no root, all others are this test.
describe.runIf(process.getuid?.() === 0).for(corners)("$sandbox, $way, as an ordinary user", (corner) => {
  test.for(Object.values(attacks).flat())(
    "holds a script that $name",
    { timeout: 300_000 },
    async ({ name }, context) => {
      needProgram(context, programOf[corner.sandbox]);

      const problems = (await findProblems(corner)).get(name);

      expect(problems).toEqual([]);
    },
  );
});

let running: ReadonlyMap<Corner, Promise<Problems>> | undefined;

/** What became of all attacks in a corner. All corners are attacked at once: an attack mostly waits. */
async function findProblems(corner: Corner): Promise<Problems> {
  running ??= new Map(corners.map((one) => [one, attackAsUser(one)]));
  const [found] = await Promise.all([running.get(corner), Promise.allSettled(running.values())]);
  return found ?? new Map();
}

async function attackAsUser({ sandbox, way }: Corner): Promise<Problems> {
  const own = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-user-")));
  mkdirSync(join(own, "home"));
  for (const path of [own, join(own, "home")]) chownSync(path, user, user);
  // Somebody forgot to close it: programs inside must not have it.
  const forgotten = openSync("/etc/shadow", "r");
  const child = spawn(
    process.execPath,
    ["--conditions=@kitbag/source", join(project, "test/support/attacks/attack-as-user.ts"), sandbox, way],
    {
      uid: user,
      gid: user,
      cwd: own,
      env: { PATH: "/usr/bin:/bin", HOME: join(own, "home"), TMPDIR: own },
      stdio: ["ignore", "pipe", "pipe", "ignore", "ignore", "ignore", "ignore", forgotten],
    },
  );
  closeSync(forgotten);
  const complaints = text(child.stderr ?? Readable.from([]));
  const found = new Map<string, unknown>();
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
    const { name, problems } = JSON.parse(line) as { name: string; problems: unknown };
    found.set(name, problems);
  }
  rmSync(own, { recursive: true, force: true });
  if (found.size === 0) throw new Error(await complaints);
  return found;
}
