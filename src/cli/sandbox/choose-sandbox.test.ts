import { expect, test } from "vitest";

import type { Invocation } from "../cli-command.ts";
import { chooseSandbox } from "./open-cli-runtimes.ts";

test("chooseSandbox() leaves the choice to the machine if nobody says anything", () => {
  const { invocation } = createInvocation();

  expect(chooseSandbox(invocation)).toBeUndefined();
  expect(chooseSandbox({ ...invocation, env: { KITBAG_SANDBOX: "" } })).toBeUndefined();
});

test("chooseSandbox() takes the flag before the environment", () => {
  const { invocation } = createInvocation({ sandbox: "unshare" }, { KITBAG_SANDBOX: "bubblewrap" });

  expect(chooseSandbox(invocation)).toBe("unshare");
  expect(chooseSandbox({ ...invocation, options: {} })).toBe("bubblewrap");
});

test.for(["none", "Off", "constructor", " off"])(
  "chooseSandbox() refuses %j: an unknown name is never none",
  (name) => {
    const { invocation } = createInvocation({ sandbox: name });

    expect(() => chooseSandbox(invocation)).toThrow(`Cannot use the sandbox ${name}: there are bubblewrap, unshare`);
  },
);

test("chooseSandbox() says in red that there is none", () => {
  const { invocation, notes } = createInvocation({ sandbox: "off" });

  expect(chooseSandbox(invocation)).toBe("off");
  expect(notes).toEqual(["<red:No sandbox:> what runs can read and change all that you can\n"]);
});

function createInvocation(
  options: Invocation["options"] = {},
  env: Invocation["env"] = {},
): { invocation: Invocation; notes: string[] } {
  const notes: string[] = [];
  const terminal = {
    note: (text: string) => void notes.push(text),
    style: (style: string, text: string) => `<${style}:${text}>`,
  };
  return { invocation: { args: [], options, json: false, env, cwd: "/", terminal } as unknown as Invocation, notes };
}
