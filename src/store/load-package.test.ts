import { expect, test } from "vitest";

import { loadPackage } from "./load-package.ts";

test("loadPackage() says what to install", async () => {
  const name = ["not", "installed"].join("-");

  const loading = loadPackage(name, "postgresStore", () => import(name) as Promise<unknown>);

  await expect(loading).rejects.toThrow(
    'Cannot use postgresStore: it needs the package "not-installed", which is not installed; run: npm install not-installed',
  );
});

test("loadPackage() passes on what else goes wrong while a package is loaded", async () => {
  const failure = new Error("it is broken");

  await expect(loadPackage("broken", "postgresStore", () => Promise.reject(failure))).rejects.toBe(failure);
});
