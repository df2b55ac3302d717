import { expect, test } from "vitest";

import { KitbagError } from "../../core/errors.ts";
import type { FoundSandbox } from "../../sandbox/find-sandbox.ts";
import { describeSandbox } from "./run-tour.ts";

test("describeSandbox() names the sandbox, and only what it really hides", async () => {
  const text = await describeSandbox(withSandbox("bubblewrap", ["files", "network", "memory"]));

  expect(text).toMatchInlineSnapshot(`
    "It ran in the sandbox bubblewrap.
      It saw:         its skill's folder and the project, both read-only, basic programs, an empty /tmp
      It did not see: your home and every other file of yours
                      the network, this machine included"
  `);
});

test("describeSandbox() says that there was none", async () => {
  expect(await describeSandbox(withSandbox("off", []))).toContain("There was no sandbox, because you turned it off");
});

test("describeSandbox() says that nothing was run where there is no sandbox", async () => {
  const findSandbox = (): Promise<FoundSandbox> => Promise.reject(new KitbagError("sandbox-missing", { tried: [] }));

  expect(await describeSandbox({ findSandbox })).toContain("No sandbox works on this machine, so nothing was run");
});

test("describeSandbox() hides no other failure", async () => {
  const findSandbox = (): Promise<FoundSandbox> => Promise.reject(new Error("out of disk"));

  await expect(describeSandbox({ findSandbox })).rejects.toThrow("out of disk");
});

function withSandbox(name: string, enforces: readonly string[]): { findSandbox: () => Promise<FoundSandbox> } {
  return { findSandbox: async () => ({ name, enforces: new Set(enforces) }) as unknown as FoundSandbox };
}
