import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { digestToken } from "../../gate/access/token-check.ts";
import type { GateToken } from "../../gate/gate.ts";
import { findTokenPlaces, readFirstTokens, readTokens, withoutMissing } from "./tokens.ts";

const [first, second] = [["first", "made-up-token"].join("-"), ["second", "made-up-token"].join("-")] as const;
const home = "/no/such/home";
const env = { KITBAG_HOME: home };

test("findTokenPlaces() names the file of kitbag token if nobody gave a token", () => {
  const places = findTokenPlaces({ options: {}, env: { ...env, KITBAG_TOKEN: "" }, cwd: "/" });

  expect(places).toEqual({
    given: [],
    files: [{ path: join(home, "tokens"), name: join(home, "tokens"), isOwn: true }],
  });
  expect(readTokens(withoutMissing(places))).toEqual([]);
});

test("findTokenPlaces() takes flags before the environment", () => {
  const options = { token: [first, second] };

  expect(read(options, { KITBAG_TOKEN: "other" })).toEqual([{ token: first }, { token: second }]);
});

test("findTokenPlaces() takes the environment if there is no flag, also a digest", () => {
  const sha256 = digestToken(first);

  expect(read({}, { KITBAG_TOKEN: first })).toEqual([{ token: first }]);
  expect(read({}, { KITBAG_TOKEN: `sha256:${sha256}` })).toEqual([{ sha256 }]);
});

test("readTokens() reads files beside texts", () => {
  const cwd = createFolder();
  writeFileSync(join(cwd, "tokens"), `# ours\n${second} reader tools:pdf\n`);

  const tokens = read({ token: [first, "@tokens"] }, {}, cwd);

  expect(tokens).toEqual([{ token: first }, { token: second, id: "reader", scopes: ["tools:pdf"] }]);
});

test.for([{ token: [""] }, { token: [first, ""] }, { token: ["@empty"] }])(
  "readFirstTokens() refuses %j: nothing is not a token",
  (options) => {
    const cwd = createFolder();
    writeFileSync(join(cwd, "empty"), "# nothing\n");

    expect(() => readFirstTokens(findTokenPlaces({ options, env, cwd }))).toThrow(
      /^Cannot use --token.*: there is no token in it; make one with kitbag token add/u,
    );
  },
);

test("readTokens() says that a file is missing", () => {
  expect(() => read({}, { KITBAG_TOKEN: "@nowhere" }, createFolder())).toThrow(
    "Cannot read KITBAG_TOKEN @nowhere: there is no such file",
  );
});

function read(options: Readonly<Record<string, unknown>>, more: object = {}, cwd = "/"): readonly GateToken[] {
  return readTokens(findTokenPlaces({ options, env: { ...env, ...more }, cwd }));
}
