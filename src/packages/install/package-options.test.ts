import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { checkPackageOptions } from "./package-options.ts";

test("checkPackageOptions() takes what can be used, and does not look at other options", () => {
  const index = { python: "https://index.example/simple", npm: "http://127.0.0.1:4873", hosts: ["files.example:443"] };
  const installLimits = { limitMs: 1000, maxBytes: 5 };
  const more = { offline: true, wheelhouse: createFolder(), allowInstallScripts: ["esbuild"], installLimits, index };

  expect(() => checkPackageOptions({})).not.toThrow();
  expect(() => checkPackageOptions({ ...more, sandbox: 7 })).not.toThrow();
});

test.for([
  [{ wheelhouse: "/nonexistent" }, 'Cannot use "wheelhouse": found "/nonexistent", expected a folder that exists'],
  [{ wheelhouse: import.meta.filename }, 'Cannot use "wheelhouse"'],
  [{ wheelhouse: 3 }, 'Cannot use "wheelhouse": found 3'],
  [{ offline: "yes" }, 'Cannot use "offline"'],
  [{ index: "https://x" }, 'Cannot use "index": found "https://x", expected an object'],
  [{ index: { npm: "registry" } }, 'Cannot use "index.npm": found "registry", expected an address'],
  [{ index: { hosts: "x" } }, 'Cannot use "index.hosts"'],
  [{ index: { pip: "https://x" } }, 'Cannot use "index.pip"'],
  [{ allowInstallScripts: "esbuild" }, 'Cannot use "allowInstallScripts"'],
  [{ installLimits: { limitMs: 0 } }, 'Cannot use "installLimits.limitMs"'],
  [{ installLimits: { maxBytes: "2" } }, 'Cannot use "installLimits.maxBytes"'],
] as const)("checkPackageOptions() refuses %j", ([options, message]) => {
  expect(() => checkPackageOptions(options)).toThrow(message);
});
