import { symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import type { PythonRequest } from "./dependency-request.ts";
import { loadDependencyRequest } from "./load-dependency-request.ts";
import { renderRequirement } from "./python/parse-requirement.ts";

const python = "/usr/bin/python3";
const block = '# /// script\n# requires-python = ">=3.8"\n# dependencies = ["inline"]\n# ///\n';

test("loadDependencyRequest() takes the block of a script before files, and what the manifest lists with it", () => {
  const directory = createFolder({ "scripts/a.py": block, "requirements.txt": "from-file" });

  const request = loadDependencyRequest({
    directory,
    path: "scripts/a.py",
    python,
    dependencies: { python: ["listed"] },
  });

  expect(names(request)).toEqual(["inline", "listed"]);
  expect(request).toMatchObject({ language: "python", python, requiresPython: ">=3.8" });
});

test("loadDependencyRequest() takes the nearest file above a script", () => {
  const directory = createFolder({
    "scripts/deep/a.py": "",
    "scripts/requirements.txt": "near\n-c ../limits.txt",
    "limits.txt": "near<2",
    "requirements.txt": "far",
  });

  const request = loadDependencyRequest({ directory, path: "scripts/deep/a.py", python }) as PythonRequest;

  expect(names(request)).toEqual(["near"]);
  expect(request.constraints.map(renderRequirement)).toEqual(["near<2"]);
});

test("loadDependencyRequest() reads pyproject.toml", () => {
  const directory = createFolder({ "a.py": "", "pyproject.toml": '[project]\ndependencies = ["one>=1"]\n' });

  expect(names(loadDependencyRequest({ directory, path: "a.py", python }))).toEqual(["one>=1"]);
});

test("loadDependencyRequest() reads package.json for scripts that Node runs", () => {
  const directory = createFolder({
    "scripts/a.ts": "",
    "package.json": '{"dependencies":{"left":"^1","right":"1"}}',
    "requirements.txt": "not-for-node",
  });

  const request = loadDependencyRequest({ directory, path: "scripts/a.ts", dependencies: { npm: ["right@2"] } });

  expect(request).toEqual({ language: "node", packages: { left: "^1", right: "2" } });
});

test("loadDependencyRequest() finds nothing where nothing is asked for", () => {
  const directory = createFolder({ "a.py": "import os\n" });

  expect(loadDependencyRequest({ directory, path: "a.py", python })).toMatchObject({
    requirements: [],
    constraints: [],
  });
  expect(loadDependencyRequest({ directory, path: "a.js" })).toEqual({ language: "node", packages: {} });
});

test("loadDependencyRequest() never reads a file outside of the folder", () => {
  const outside = createFolder({ "requirements.txt": "secret", "deep/requirements.txt": "secret" });
  const directory = createFolder({ "a.py": "" });
  symlinkSync(join(outside, "requirements.txt"), join(directory, "requirements.txt"));
  symlinkSync(join(outside, "deep"), join(directory, "scripts"));

  expect(names(loadDependencyRequest({ directory, path: "a.py", python }))).toEqual([]);
  expect(names(loadDependencyRequest({ directory, path: "scripts/a.py", python }))).toEqual([]);
});

test("loadDependencyRequest() refuses files that are too large or broken", () => {
  const large = createFolder({ "a.py": "", "requirements.txt": "#".repeat(1024 * 1024 + 1) });
  const broken = createFolder({ "a.py": "", "pyproject.toml": "[" });

  expect(() => loadDependencyRequest({ directory: large, path: "a.py", python })).toThrow("larger than");
  expect(() => loadDependencyRequest({ directory: broken, path: "a.py", python })).toThrow("not TOML");
});

function names(request: unknown): readonly string[] {
  return (request as PythonRequest).requirements.map(renderRequirement);
}
