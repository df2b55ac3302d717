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
    ...script(`await kitbag.call("receive", { auth: token });
await kitbag.call("nosuch/" + token).catch((error) => console.log(error.message));`),
    tools: [receive],
    permissions: { env: ["TOKEN"] },
    options: { findSecret: () => secret },
  });

  expect(outcome.status).toBe("ok");
  expect(JSON.stringify(events)).not.toContain(secret);
  expect(JSON.stringify(events)).toContain('"input":{"auth":"[TOKEN]"}');
  expect(JSON.stringify(events)).toContain("nosuch/[TOKEN]");
});

test.for<[name: string, value: string, shown: string]>([
  ["SERVICE_PORT", "8080", "8080"],
  ["DEBUG_MODE", "true", "true"],
  ["LOGIN_PIN", "8080", "[LOGIN_PIN]"],
  ["SERVICE_PORT", "808080", "[SERVICE_PORT]"],
  ["MYSQL_PWD", "12345", "[MYSQL_PWD]"],
  ["BANK_TAN", "48213", "[BANK_TAN]"],
  ["SMS_OTP_LENGTH", "4821", "[SMS_OTP_LENGTH]"],
])("R19: a port or a switch is shown, a secret is not: %s=%s is %s", async ([name, value, shown]) => {
  const { outcome } = await runScript(sandbox, {
    files: { "a.mjs": `console.log(process.env.${name});` },
    permissions: { env: [name] },
    environment: [name],
    options: { findSecret: () => value },
  });

  expect(outcome).toMatchObject({ status: "ok", output: expect.stringContaining(shown) });
});

test.for<[way: string, code: string]>([
  ["stream", "kitbag.stream(start); kitbag.stream(end);"],
  ["stream and stdout", "kitbag.stream(start); console.log(end);"],
  ["stream, with another piece between", "kitbag.stream(start); kitbag.stream({ a: 1 }); kitbag.stream(end);"],
  ["log", "kitbag.log(start); kitbag.log(end);"],
  ["progress", "kitbag.progress('at ' + start); kitbag.progress(end + ' done');"],
  ["stderr", "console.error(start); console.error(end);"],
])("R19: a secret split over two pieces of %s is hidden", async ([, code]) => {
  const { outcome, events } = await runScript(sandbox, {
    ...script(code),
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

function script(text: string): { readonly files: Readonly<Record<string, string>> } {
  const start = `import * as kitbag from "kitbag";
const token = process.env.TOKEN;
const [start, end] = [token.slice(0, 10), token.slice(10)];
`;
  return { files: { "a.mjs": start + text } };
}
