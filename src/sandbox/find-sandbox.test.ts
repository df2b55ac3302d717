import { execFileSync } from "node:child_process";
import { chownSync, copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { needProgram } from "../../test/support/need-program.ts";
import { writeFolder } from "../../test/support/run-script.ts";
import { backends, findObstacle } from "./backends.ts";
import { findSandbox, requiredGuarantees } from "./find-sandbox.ts";
import { isRoot } from "./host.ts";
import { findProgram } from "./programs.ts";

test("findSandbox() takes the best there is, which holds what nobody may miss", async (context) => {
  needProgram(context, "bwrap");

  const sandbox = await findSandbox();
  onTestFinished(() => sandbox.close());

  expect(sandbox.name).toBe("bubblewrap");
  expect(requiredGuarantees.filter((guarantee) => !sandbox.enforces.has(guarantee))).toEqual([]);
});

// Only root can put another program in the place of bwrap, in a mount tree of its own.
test.runIf(isRoot)(
  "findSandbox() takes unshare for an ordinary user whose bubblewrap cannot bind by descriptor",
  (context) => {
    needProgram(context, "bwrap");
    const bwrap = findProgram("bwrap") ?? "";
    const folder = writeFolder({});
    writeFileSync(join(folder, "old"), renderOldBubblewrap(join(folder, "bwrap")), { mode: 0o755 });
    copyFileSync(bwrap, join(folder, "bwrap"));
    chownSync(folder, 61_234, 61_234);
    const program = `
    import { findSandbox } from ${JSON.stringify(join(import.meta.dirname, "find-sandbox.ts"))};
    const found = await findSandbox();
    const named = await findSandbox({ name: "bubblewrap" }).catch((cause) => cause);
    console.log(found.name, named.code, named.message.includes("bind-fd"));
    await found.close();`;
    const user = ["setpriv", "--reuid=61234", "--regid=61234", "--clear-groups"];

    const output = runInPlaceOf({ program: bwrap, by: join(folder, "old") }, program, { user, temporary: folder });

    expect(output).toBe("unshare sandbox-weak true\n");
  },
);

test.runIf(isRoot)("findSandbox() says first why a sandbox cannot start, then what is not enforced", (context) => {
  needProgram(context, "unshare");
  const folder = writeFolder({ false: '#!/bin/sh\necho "unshare: Operation not permitted" >&2\nexit 1\n' });
  const program = `
    import { findSandbox } from ${JSON.stringify(join(import.meta.dirname, "find-sandbox.ts"))};
    console.log(await findSandbox({ name: "unshare" }).catch((cause) => cause.message));`;
  const covered = { program: findProgram("unshare") ?? "", by: join(folder, "false") };

  const output = runInPlaceOf(covered, program, { temporary: folder });

  expect(output).toMatch(
    /^Cannot use the sandbox "unshare": unshare: Operation not permitted; so it does not enforce files, network/u,
  );
});

test("findSandbox() says why the one that was named is not there, and how to get it", async () => {
  const failure = await findSandbox({ name: "seatbelt" }).catch((cause: unknown) => cause);

  expect(failure).toMatchObject({
    code: "sandbox-missing",
    message:
      'Cannot use the sandbox "seatbelt": it does not work on this machine: seatbelt: it is for darwin alone; choose another one, or leave the choice to Kitbag (see kitbag doctor)',
    details: { tried: ["seatbelt: it is for darwin alone"], asked: "seatbelt" },
  });
});

test("findSandbox() takes no sandbox that was not asked for when another one was named", async () => {
  const sandbox = await findSandbox({ name: "off" });
  onTestFinished(() => sandbox.close());

  expect([sandbox.name, [...sandbox.enforces]]).toEqual(["off", ["environment"]]);
});

test("backends are in the order in which they are tried", () => {
  expect(backends.map(({ name }) => name)).toEqual(["bubblewrap", "unshare", "firejail", "nsjail", "seatbelt", "off"]);
});

test("findObstacle() names every program that is missing", () => {
  expect(findObstacle({ needs: ["sh", "kitbag-no-1", "kitbag-no-2"] })).toBe(
    "there is no kitbag-no-1 and no kitbag-no-2 on this machine",
  );
});

/** Runs a module with another program in the place of one of the system, in a mount tree of its own. */
function runInPlaceOf(
  { program, by }: { readonly program: string; readonly by: string },
  module: string,
  { user = [], temporary }: { readonly user?: readonly string[]; readonly temporary: string },
): string {
  const node = [process.execPath, "--conditions=@kitbag/source", "--input-type=module", "--eval", module];
  const cover = ["sh", "-c", 'mount --bind "$1" "$2"; shift 2; exec "$@"', "sh", by, program];
  return execFileSync(
    findProgram("unshare") ?? "",
    ["--mount", "--propagation", "private", "--", ...cover, ...user, ...node],
    { encoding: "utf8", env: { PATH: "/usr/sbin:/usr/bin:/bin", TMPDIR: temporary } },
  );
}

/** A program that refuses what bubblewrap did not know before 0.8.0-2+deb12u1, and is `bwrap` else. */
function renderOldBubblewrap(bwrap: string): string {
  return `#!/bin/sh
if grep -qz -- -bind-fd /proc/self/fd/4; then echo "bwrap: Unknown option --bind-fd" >&2; exit 1; fi
exec ${bwrap} "$@"
`;
}
