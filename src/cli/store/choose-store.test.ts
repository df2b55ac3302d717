import { expect, test } from "vitest";

import { findNamedStore, nameStore } from "./choose-store.ts";

test("findNamedStore() takes the flag before the environment, and knows when nobody said anything", () => {
  const env = { KITBAG_STORE: "memory" };

  expect(find("none", env)).toEqual({ kind: "none" });
  expect(find(undefined, env)).toEqual({ kind: "memory" });
  expect(find(undefined, { KITBAG_STORE: "" })).toBeUndefined();
  expect(find(undefined, {})).toBeUndefined();
});

test("findNamedStore() finds a file from the working directory", () => {
  expect(find("sqlite:data/a b.db")).toEqual({ kind: "sqlite", file: "/project/data/a b.db", isNamed: true });
  expect(find("sqlite:/data/x.db")).toMatchObject({ file: "/data/x.db" });
});

test("nameStore() shows no user and no password of a database", () => {
  const choice = find("postgresql://ada:hunter2@db.example:5433/kitbag?sslpassword=hunter3");

  expect(choice).toMatchObject({ kind: "postgres" });
  expect(choice && nameStore(choice)).toBe("postgresql://db.example:5433/kitbag");
});

test.for([
  "",
  "None",
  "off",
  "sqlite",
  "sqlite:",
  "sqlite::memory:",
  "sqlite:a\0b",
  "kitbag.db",
  "/data/kitbag.db",
  "mysql://localhost",
  "redis://localhost",
  "postgres:kitbag",
  "postgres://[",
  "__proto__",
])("findNamedStore() refuses %j: an unknown store is never none", (text) => {
  expect(() => find(text)).toThrow(/^Cannot use --store /u);
});

test("findNamedStore() repeats no password in a refusal, and says where the text comes from", () => {
  const wrong = "mysql://ada:hunter2@localhost/x";

  expect(() => find(undefined, { KITBAG_STORE: wrong })).toThrow(
    'Cannot use KITBAG_STORE "mysql://…": expected sqlite:FILE, postgres://…, memory or none',
  );
});

function find(store?: string, env: Record<string, string> = {}): ReturnType<typeof findNamedStore> {
  return findNamedStore({ options: store === undefined ? {} : { store }, env, cwd: "/project" });
}
