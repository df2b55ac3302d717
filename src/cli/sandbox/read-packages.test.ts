import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { fromConfig, joinPackages, readPackages } from "./read-packages.ts";

test("readPackages() reads what the environment says, and nothing where it is silent", () => {
  const cwd = createFolder({ "wheels/a.whl": "" });
  const env = {
    KITBAG_OFFLINE: "1",
    KITBAG_WHEELHOUSE: "wheels",
    KITBAG_PYTHON_INDEX: "https://index.example/simple",
    KITBAG_NPM_INDEX: "http://127.0.0.1:4873",
    KITBAG_CARGO_INDEX: "https://crates.example",
    KITBAG_INDEX_HOSTS: "files.example:443, other.example:443",
    KITBAG_INSTALL_SCRIPTS: "esbuild,sharp",
  };

  expect(readPackages({ env: { KITBAG_WHEELHOUSE: "" }, cwd })).toEqual({});
  expect(readPackages({ env, cwd })).toEqual({
    offline: true,
    wheelhouse: join(cwd, "wheels"),
    index: {
      python: "https://index.example/simple",
      npm: "http://127.0.0.1:4873",
      cargo: "https://crates.example",
      hosts: ["files.example:443", "other.example:443"],
    },
    allowInstallScripts: ["esbuild", "sharp"],
  });
});

test.for([
  [{ KITBAG_WHEELHOUSE: "/nonexistent" }, 'KITBAG_WHEELHOUSE: found "/nonexistent", expected a folder that exists'],
  [{ KITBAG_PYTHON_INDEX: "pypi" }, "KITBAG_PYTHON_INDEX: found"],
  [{ KITBAG_OFFLINE: "maybe" }, 'KITBAG_OFFLINE: found "maybe", expected 1 or 0'],
] as const)("readPackages() refuses %j by the name of the variable", ([env, message]) => {
  expect(() => readPackages({ env, cwd: "/" })).toThrow(`Cannot use ${message}`);
});

test("fromConfig() takes paths from where the configuration is, and refuses what is wrong in its terms", () => {
  const folder = createFolder({ "wheels/a.whl": "" });
  const path = join(folder, "kitbag.config.json");

  expect(fromConfig({ wheelhouse: "wheels" }, path)).toEqual({ wheelhouse: join(folder, "wheels") });
  expect(() => fromConfig({ wheelhouse: "gone" }, path)).toThrow("packages.wheelhouse: expected a folder that exists");
  expect(() => fromConfig({ wheels: "x" }, path)).toThrow('packages cannot have "wheels"; use offline, wheelhouse');
  expect(() => fromConfig([], path)).toThrow("packages: expected an object");
});

test("joinPackages() lets what goes before win, each index by itself", () => {
  const first = { offline: true, index: { python: "https://a.example", npm: "https://b.example" } };

  expect(joinPackages(first, { index: { npm: "https://c.example" } })).toEqual({
    offline: true,
    index: { python: "https://a.example", npm: "https://c.example" },
  });
  expect(joinPackages({}, {})).toEqual({});
});
