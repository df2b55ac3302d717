import { expect, test } from "vitest";

import { addLoadedSecrets, withLoadedSecrets } from "./loaded-secrets.ts";
import { createRedactor } from "./redactor.ts";

test("withLoadedSecrets() hides what was loaded so far, and what is loaded later", () => {
  expect(withLoadedSecrets(undefined)).toBeUndefined();

  addLoadedSecrets({ FIRST: "first-value-1" });
  const before = withLoadedSecrets(undefined);
  addLoadedSecrets({ SECOND: "second-value-2" });

  expect(before?.text("first-value-1 second-value-2")).toBe("[FIRST] second-value-2");
  expect(withLoadedSecrets(undefined)?.text("first-value-1 second-value-2")).toBe("[FIRST] [SECOND]");
});

test("withLoadedSecrets() knows the secrets of its own, too, and is made once for them", () => {
  const own = createRedactor({ OWN: "first-value-1-and-more" });

  const both = withLoadedSecrets(own);

  expect(both?.text("first-value-1-and-more, first-value-1")).toBe("[OWN], [FIRST]");
  expect(withLoadedSecrets(own)).toBe(both);
});

test("addLoadedSecrets() keeps both values of a name", () => {
  addLoadedSecrets({ FIRST: "other-value-9" });
  addLoadedSecrets({ FIRST: "other-value-9" });

  expect(withLoadedSecrets(undefined)?.text("first-value-1 other-value-9")).toBe("[FIRST] [FIRST 2]");
});

test.for([
  ["PIN", "1234567"],
  ["MODE", "production"],
  ["SHELL", "/usr/bin/bash"],
  ["BASE_URL", "https://api.example.com/v2"],
  ["LANG", "en_US.UTF-8"],
])(
  "addLoadedSecrets() leaves out %s=%s: it would be found in the outputs of other tools",
  ([name = "", value = ""]) => {
    addLoadedSecrets({ [name]: value });

    expect(withLoadedSecrets(undefined)?.text(value)).toBe(value);
  },
);

test.for([
  ["DB_PASSWORD", "swordfish"],
  ["DATABASE_URL", "postgres://ada:hunter2@db.example/main"],
  ["CALLBACK", "https://api.example.com/v2?key=4f9ab"],
])("addLoadedSecrets() takes %s=%s", ([name = "", value = ""]) => {
  addLoadedSecrets({ [name]: value });

  expect(withLoadedSecrets(undefined)?.text(value)).toBe(`[${name}]`);
});

test("addLoadedSecrets() forgets the oldest of very many", () => {
  for (let index = 0; index < 300; index++) addLoadedSecrets({ [`ROTATED_${index}`]: `rotated-value-${index}-end` });

  const redactor = withLoadedSecrets(undefined);

  expect(redactor?.text("rotated-value-299-end")).toBe("[ROTATED_299]");
  expect(redactor?.text("rotated-value-0-end")).toBe("rotated-value-0-end");
});
