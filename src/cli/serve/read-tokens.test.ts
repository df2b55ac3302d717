import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { readTokens } from "./read-tokens.ts";

const [first, second] = [["first", "made-up-token"].join("-"), ["second", "made-up-token"].join("-")] as const;

test("readTokens() finds none if nobody gave one", () => {
  expect(readTokens({ options: {}, env: { KITBAG_TOKEN: "" }, cwd: "/" })).toEqual([]);
});

test("readTokens() takes flags before the environment", () => {
  const tokens = readTokens({ options: { token: [first, second] }, env: { KITBAG_TOKEN: "other" }, cwd: "/" });

  expect(tokens).toEqual([{ token: first }, { token: second }]);
});

test("readTokens() takes the environment if there is no flag", () => {
  const tokens = readTokens({ options: {}, env: { KITBAG_TOKEN: first }, cwd: "/" });

  expect(tokens).toEqual([{ token: first }]);
});

test("readTokens() reads a file with whose tokens they are and what they are good for", () => {
  const cwd = createFolder();
  writeFileSync(join(cwd, "tokens"), `# ours\n${first}\r\n\n  ${second} reader tools:pdf,tools:csv,\n`);

  const tokens = readTokens({ options: { token: ["@tokens"] }, env: {}, cwd });

  expect(tokens).toEqual([{ token: first }, { token: second, id: "reader", scopes: ["tools:pdf", "tools:csv"] }]);
});

test.for([{ token: [""] }, { token: ["@empty"] }])("readTokens() refuses %j: nothing is not a token", (options) => {
  const cwd = createFolder();
  writeFileSync(join(cwd, "empty"), "# nothing\n");

  expect(() => readTokens({ options, env: {}, cwd })).toThrow(/^Cannot use --token: there is no token in it/u);
});

test("readTokens() says that a file is missing", () => {
  expect(() => readTokens({ options: {}, env: { KITBAG_TOKEN: "@nowhere" }, cwd: createFolder() })).toThrow(
    "Cannot read KITBAG_TOKEN @nowhere: ",
  );
});
