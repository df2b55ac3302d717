import assert from "node:assert/strict";
import { text } from "node:stream/consumers";

import { within } from "../store/store-check.ts";
import { plainProfile, runIn, runShell, type SandboxChecks } from "./sandbox-check.ts";

const hostileWords = [
  "",
  " ",
  "--",
  "-c",
  "$(id)",
  "`id`",
  "a\nb",
  "'",
  '"',
  "\\",
  "*",
  "~",
  "é😀",
  "--bind",
  "/",
  "run",
];

/** How programs are started, and how they end, whatever is enforced. */
export const programChecks: SandboxChecks = {
  "start() hands on arguments as they are": async ({ sandbox }) => {
    const { stdout } = await runIn(sandbox, ["printf", "%s\\0", ...hostileWords]);

    assert.deepEqual(stdout.split("\0").slice(0, -1), hostileWords);
  },
  "start() gives a program its input, also if it opens it by name": async ({ sandbox }) => {
    const input = "line\n".repeat(50_000);

    const { stdout } = await runShell(sandbox, "cat; cat /dev/stdin", { input });

    assert.equal(stdout, input + input);
  },
  "start() keeps what is printed apart, also if a program opens the streams by name": async ({ sandbox }) => {
    const { stdout, stderr } = await runShell(
      sandbox,
      "echo out; echo err >&2; echo out2 > /dev/stdout; echo err2 > /dev/stderr",
    );

    assert.deepEqual([stdout, stderr], ["out\nout2\n", "err\nerr2\n"]);
  },
  "start() gives a program a channel as descriptor 3": async ({ sandbox }) => {
    const started = await sandbox.start(plainProfile, ["bash", "-c", 'read -r line <&3; echo "heard $line" >&3']);
    started.channel.write("hello\n");

    const answer = await within(text(started.channel), "the channel");

    assert.equal(answer, "heard hello\n");
    assert.deepEqual(await started.exit, { code: 0 });
  },
  "start() sets the variables of the profile": async ({ sandbox }) => {
    const environment = { GIVEN: "a\nb=c", __proto__: "x", LANG: "C" };

    const { stdout } = await runShell(sandbox, 'printf "%s|%s" "$GIVEN" "$LANG"', { environment });

    assert.equal(stdout, "a\nb=c|C");
  },
  "start() starts a program in the directory of the profile": async ({ sandbox }) => {
    const { stdout } = await runIn(sandbox, ["pwd"], { directory: "/usr" });

    assert.equal(stdout, "/usr\n");
  },
  "start() tells with which code a program ended": async ({ sandbox }) => {
    const { exit } = await runShell(sandbox, "exit 42");

    assert.deepEqual(exit, { code: 42 });
  },
  "start() tells which signal ended a program": async ({ sandbox }) => {
    const { exit } = await runShell(sandbox, "kill -TERM $$; sleep 5");

    assert.deepEqual(exit, { signal: "SIGTERM" });
  },
  "start() runs many programs at once without mixing them": async ({ sandbox }) => {
    const numbers = Array.from({ length: 8 }, (_, index) => String(index));

    const ended = await Promise.all(
      numbers.map((number) =>
        runShell(sandbox, `read -r line; echo "$line $N"`, { input: `${number}\n`, environment: { N: number } }),
      ),
    );

    assert.deepEqual(
      ended.map(({ stdout }) => stdout),
      numbers.map((number) => `${number} ${number}\n`),
    );
  },
  "fillInput() gives a program its input when it already runs": async ({ sandbox }) => {
    const started = await sandbox.start(plainProfile, ["bash", "-c", "read -r line <&3; cat"]);
    started.fillInput("late");
    started.channel.write("go\n");

    const printed = await within(text(started.stdout), "what it prints");

    assert.equal(printed, "late");
  },
  "kill() ends a program that ignores signals, at once": async ({ sandbox }) => {
    const line = "trap '' TERM INT HUP; echo ready; sleep 60 & sleep 60 & wait; sleep 60";
    const started = await sandbox.start(plainProfile, ["bash", "-c", line]);
    await new Promise((resolve) => {
      started.stdout.once("data", resolve);
    });

    started.kill();
    const exit = await within(started.exit, "the end of a program that was killed");

    assert.notEqual(exit.code, 0);
  },
  "kill() may be called again, and after the end": async ({ sandbox }) => {
    const started = await sandbox.start(plainProfile, ["true"]);
    await started.exit;

    started.kill();
    started.kill();

    assert.deepEqual(await started.exit, { code: 0 });
  },
  "close() ends what still runs": async ({ sandbox }) => {
    const started = await sandbox.start(plainProfile, ["sleep", "60"]);

    await within(sandbox.close(), "close()");
    const exit = await within(started.exit, "the end of a program when its sandbox was closed");

    assert.notEqual(exit.code, 0);
  },
};
