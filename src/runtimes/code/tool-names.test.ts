import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { toIdentifier, toToolNames } from "./render-tool-declarations.ts";

test.for([
  ["read", "read"],
  ["read-issue", "read_issue"],
  ["v1.2", "v1_2"],
  ["3d-view", "_3d_view"],
] as const)("toIdentifier() writes %s as %s", ([name, word]) => {
  expect(toIdentifier(name)).toBe(word);
});

test("toToolNames() gives every name that cannot be written one that can", () => {
  const names = toToolNames(available("now", "get-time", "git-hub/read-issue", "pdf/merge"));

  expect(names).toEqual({
    aliases: {
      get_time: "get-time",
      "git-hub/read_issue": "git-hub/read-issue",
      "git_hub/read-issue": "git-hub/read-issue",
      "git_hub/read_issue": "git-hub/read-issue",
    },
    globals: { now: "now", "get-time": "get-time", get_time: "get-time" },
  });
});

test("toToolNames() never gives a tool's name to another one", () => {
  const names = toToolNames(available("read-it", "read_it", "read.it", "a-b/x", "a_b/x"));

  expect(names.aliases["read_it"]).toBeUndefined();
  expect(names.globals["read_it"]).toBe("read_it");
  expect(names.aliases["a_b/x"]).toBeUndefined();
});

test("toToolNames() gives a word that two tools want to the first", () => {
  const names = toToolNames(available("read-it", "read.it"));

  expect(names.aliases).toEqual({ read_it: "read-it" });
  expect(names.globals["read_it"]).toBe("read-it");
});

function available(...addresses: string[]) {
  return addresses.map((address) => {
    const name = address.slice(address.indexOf("/") + 1);
    return { address, tool: defineTool({ name, description: "Does something", run: () => null }) };
  });
}
