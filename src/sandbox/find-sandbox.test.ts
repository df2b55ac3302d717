import { expect, onTestFinished, test } from "vitest";

import { needProgram } from "../../test/support/need-program.ts";
import { backends, whyNot } from "./backends.ts";
import { findSandbox, needed } from "./find-sandbox.ts";

test("findSandbox() takes the best there is, which holds what nobody may miss", async (context) => {
  needProgram(context, "bwrap");

  const sandbox = await findSandbox();
  onTestFinished(() => sandbox.close());

  expect(sandbox.name).toBe("bubblewrap");
  expect(needed.filter((guarantee) => !sandbox.enforces.has(guarantee))).toEqual([]);
});

test("findSandbox() says why the one that was named is not there, and how to get it", async () => {
  const failure = await findSandbox({ name: "seatbelt" }).catch((cause: unknown) => cause);

  expect(failure).toMatchObject({
    code: "sandbox-missing",
    message:
      'Cannot use the sandbox "seatbelt": it does not work on this machine: seatbelt: it is for darwin alone; name another one, or none to take the best there is (see kitbag doctor)',
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

test("whyNot() names every program that is missing", () => {
  expect(whyNot({ needs: ["sh", "kitbag-no-1", "kitbag-no-2"] })).toBe(
    "there is no kitbag-no-1 and no kitbag-no-2 on this machine",
  );
});
