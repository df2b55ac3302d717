import { afterAll, beforeAll, expect, test } from "vitest";

import { openTestSandbox, runScript } from "../../../test/support/run-script.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

const secret = "Canary7Qz9LmN4xR8tVw2";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());

test("R19: a secret that a script hands to another tool is in no event of either call", async () => {
  const { outcome, events } = await runScript(sandbox, {
    ...python(`
import os, kitbag
token = os.environ["TOKEN"]
kitbag.call("receive", {"auth": token})
try:
    kitbag.call("nosuch/" + token)
except Exception as error:
    print(error)
`),
    tools: [receive],
    permissions: { env: ["TOKEN"] },
    options: { findSecret: () => secret },
  });

  expect(outcome.status).toBe("ok");
  expect(JSON.stringify(events)).not.toContain(secret);
  expect(JSON.stringify(events)).toContain('"input":{"auth":"[TOKEN]"}');
  expect(JSON.stringify(events)).toContain("nosuch/[TOKEN]");
});

test.for<[way: string, code: string]>([
  ["stream", "kitbag.stream(s[:10]); kitbag.stream(s[10:])"],
  ["stream and stdout", "kitbag.stream(s[:10]); print(s[10:], flush=True)"],
  ["stream, with another piece between", "kitbag.stream(s[:10]); kitbag.stream({'a': 1}); kitbag.stream(s[10:])"],
  ["log", "kitbag.log(s[:10]); kitbag.log(s[10:])"],
  ["progress", "kitbag.progress('at ' + s[:10]); kitbag.progress(s[10:] + ' done')"],
  ["stderr", "print(s[:10], file=sys.stderr); print(s[10:], file=sys.stderr)"],
])("R19: a secret split over two pieces of %s is hidden", async ([, code]) => {
  const { outcome, events } = await runScript(sandbox, {
    ...python(`import os, sys, kitbag\ns = os.environ["TOKEN"]\n${code}\n`),
    permissions: { env: ["TOKEN"] },
    options: { findSecret: () => secret },
  });

  expect(outcome.status).toBe("ok");
  const shown = JSON.stringify(events);
  expect([shown.includes(secret.slice(0, 10)), shown.includes(secret.slice(10))]).not.toEqual([true, true]);
  expect(shown).toContain("[TOKEN");
});

const receive = defineTool({
  name: "receive",
  description: "Answers with what it was given",
  input: { type: "object", properties: { auth: { type: "string" } } },
  run: ({ auth }) => `got ${String(auth)}`,
});

function python(text: string): { readonly files: Readonly<Record<string, string>> } {
  return { files: { "a.py": text } };
}
