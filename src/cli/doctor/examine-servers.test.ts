import { PassThrough } from "node:stream";

import { expect, test } from "vitest";

import { createTerminal } from "../terminal.ts";
import { pickModel, renderServers } from "./examine-servers.ts";

const terminal = createTerminal({
  stdin: new PassThrough(),
  stdout: new PassThrough(),
  stderr: new PassThrough(),
  env: {},
});

test("renderServers() says that no graphics card was seen", () => {
  expect(renderServers([], [], terminal)).toBe("No GPU seen: nvidia-smi and rocm-smi are not there, or see none");
});

test("renderServers() makes harmless what a server says", () => {
  const name = "a\u001B[2J\nb";

  const shown = renderServers([{ provider: "ollama", url: "", models: [{ name }], advice: [] }], [], terminal);

  expect(shown).not.toMatch(/\u001B/u);
  expect(shown.split("\n")[1]).toMatch(/^ollama +a/u);
});

test("pickModel() takes one that is loaded, else one that calls tools, else the smallest", () => {
  const server = { provider: "ollama", url: "", advice: [] };
  const plain = { name: "plain", tools: false, sizeBytes: 1 };
  const big = { name: "big", tools: true, sizeBytes: 9 };
  const small = { name: "small", tools: true, sizeBytes: 2 };

  expect(pickModel({ ...server, models: [plain, big, small] })).toBe("small");
  expect(pickModel({ ...server, models: [{ ...plain, isLoaded: true }, big, small] })).toBe("plain");
  expect(pickModel(server)).toBeUndefined();
});
