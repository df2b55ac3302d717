import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { expect, test } from "vitest";
import type * as Yaml from "yaml";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { loadPackage } from "./load-package.ts";

test("loadPackage() gives what a package exports", async () => {
  const { parse } = await loadPackage<typeof Yaml>("yaml", "readYaml");

  expect(parse("a: 1")).toEqual({ a: 1 });
});

test("loadPackage() says what to install", async () => {
  await expect(loadPackage("not-installed", "postgresStore")).rejects.toThrow(
    'Cannot use postgresStore: it needs the package "not-installed", which is not installed; run: npm install not-installed',
  );
});

test("loadPackage() passes on what a package throws when it is loaded", async () => {
  const file = join(createFolder(), "broken.mjs");
  writeFileSync(file, 'throw new TypeError("broken inside");');

  await expect(loadPackage(pathToFileURL(file).href, "needy")).rejects.toThrow("broken inside");
});
