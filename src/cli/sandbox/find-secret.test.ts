import { chmodSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { createSecretFinder } from "./open-cli-runtimes.ts";

test("createSecretFinder() takes the environment before the file of secrets", () => {
  const home = homeWith("TOKEN=file\nOTHER=file\n");

  const find = createSecretFinder({ TOKEN: "environment" }, home);

  expect([find("TOKEN"), find("OTHER"), find("MISSING")]).toEqual(["environment", "file", undefined]);
});

test("createSecretFinder() finds nothing where there is no file", () => {
  expect(createSecretFinder({}, createFolder())("TOKEN")).toBeUndefined();
});

test("createSecretFinder() reads comments, empty lines, export, quotes and CRLF", () => {
  const home = homeWith(
    "# mine\r\n\r\nexport A = one two \r\nB=\"x = 'y'\"\r\nC='#'\r\nD=\r\nE=a=b\r\n__proto__=p\r\n",
  );

  const find = createSecretFinder({}, home);

  expect(["A", "B", "C", "D", "E", "__proto__"].map(find)).toEqual(["one two", "x = 'y'", "#", "", "a=b", "p"]);
  expect(find("constructor")).toBeUndefined();
});

test.for([0o644, 0o640, 0o604, 0o602])("createSecretFinder() refuses a file of mode %o", (mode) => {
  const find = createSecretFinder({}, homeWith("TOKEN=x\n", mode));

  expect(() => find("TOKEN")).toThrow("others can read it; run chmod 600 on it");
});

test.for(["TOKEN", "=x", "1A=x", "MY-KEY=x", "\0"])(
  "createSecretFinder() refuses the line %j, and says which",
  (line) => {
    const find = createSecretFinder({}, homeWith(`A=1\n${line}\n`));

    expect(() => find("A")).toThrow("line 2 is not NAME=value");
  },
);

test("createSecretFinder() never shows a value in a failure", () => {
  const find = createSecretFinder({}, homeWith("hunter2 is my password\n"));

  expect(() => find("A")).not.toThrow("hunter2");
});

function homeWith(secrets: string, mode = 0o600): string {
  const home = createFolder({ "secrets.env": secrets });
  chmodSync(join(home, "secrets.env"), mode);
  return home;
}
