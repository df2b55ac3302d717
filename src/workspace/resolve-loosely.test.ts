import { expect, test } from "vitest";

import { defineTool } from "../core/define-tool.ts";
import type { Tool } from "../core/tool.ts";
import { createRegistry, type Registry } from "./registry/registry.ts";

test.for<[string, string]>([
  ["search", "search"],
  ["plugin:search", "search"],
  ["plugin:web/fetch", "web/fetch"],
  ["plugin:web/fetch@1.2.0", "web/fetch"],
  ["web/fetch@1.2.0", "web/fetch"],
  ["fetch", "web/fetch"],
  ["fetch@1.2.0", "web/fetch"],
  ["web__fetch", "web/fetch"],
  ["send@2.0.0", "mail/send"],
  ["send@1.0.0", "sms/send"],
])("resolve() takes %s for %s", ([requested, address]) => {
  expect(addressOf(setUp(), requested)).toBe(address);
});

test.for<[string, string]>([
  ["web/search", "tool-not-found"],
  ["web/fetch@1.2.1", "version-not-found"],
  ["fetch@2.0.0", "version-not-found"],
  ["search@1.0.0", "tool-not-found"],
  ["send", "tool-ambiguous"],
  ["plugin:send", "tool-ambiguous"],
  ["send@3.0.0", "tool-not-found"],
  ["", "address-invalid"],
  ["/", "address-invalid"],
  ["web/", "address-invalid"],
  ["/fetch", "address-invalid"],
  ["a/b/c", "address-invalid"],
  ["plugin:", "address-invalid"],
  ["web/fetch@", "address-invalid"],
  ["two words", "address-invalid"],
  ["__proto__", "address-invalid"],
  ["constructor", "tool-not-found"],
  ["toString", "tool-not-found"],
  ["web/constructor", "tool-not-found"],
  ["../../etc/passwd", "address-invalid"],
  ["fetch\u202E", "address-invalid"],
])("resolve() fails for %o with %s", ([requested, code]) => {
  expect(addressOf(setUp(), requested)).toBe(code);
});

test("resolve() takes the own tool first, then the global one, then the only one", () => {
  const registry = setUp();
  registry.add(tool("fetch", "9.0.0"), { source: "global" });
  registry.add(tool("search", "1.0.0"), { source: "component", name: "web" });

  expect(addressOf(registry, "fetch", "web")).toBe("web/fetch");
  expect(addressOf(registry, "fetch", "mail")).toBe("fetch");
  expect(addressOf(registry, "fetch")).toBe("fetch");
  expect(addressOf(registry, "search", "web")).toBe("web/search");
  expect(addressOf(registry, "send", "mail")).toBe("mail/send");
  expect(addressOf(registry, "send", "web")).toBe("tool-ambiguous");
});

test("resolve() takes the first of these that has the version", () => {
  const registry = setUp();
  registry.add(tool("fetch", "9.0.0"), { source: "global" });

  expect(addressOf(registry, "fetch@1.2.0", "web")).toBe("web/fetch");
  expect(addressOf(registry, "fetch@9.0.0", "web")).toBe("fetch");
  expect(addressOf(registry, "fetch@1.2.0", "mail")).toBe("web/fetch");
  expect(addressOf(registry, "send@2.0.0", "sms")).toBe("mail/send");
  registry.add(tool("send", "2.0.0"), { source: "component", name: "fax" });
  expect(addressOf(registry, "send@2.0.0")).toBe("tool-ambiguous");
  expect(addressOf(registry, "send@2.0.0", "fax")).toBe("fax/send");
});

test("resolve() says which version there is of a tool that has only one", () => {
  const registry = createRegistry(() => {});
  registry.add(tool("count", "1.0.0"), { source: "global" });
  registry.add(tool("plain"), { source: "global" });

  const [count, plain] = ["count@9.0.0", "plain@9.0.0"].map((address) => registry.resolve(address));

  expect(count).toMatchObject({
    failure: { code: "version-not-found", details: { address: "count", which: "9.0.0", known: ["1.0.0"] } },
  });
  expect(plain).toMatchObject({ failure: { code: "tool-not-found" } });
});

test("resolve() does not count tools of closed skills among several, but finds one if it is the only", () => {
  const { registry } = { registry: createRegistry(() => {}) };
  registry.add(tool("merge", "1.0.0"), { source: "skill", name: "pdf" });
  const whileOnlyOneIsThere = addressOf(registry, "merge");
  registry.add(tool("merge", "1.0.0"), { source: "skill", name: "docx" });
  const whileBothAreClosed = addressOf(registry, "merge");

  registry.setOpen("docx", true);
  const whileOneIsOpen = addressOf(registry, "merge");
  registry.setOpen("pdf", true);

  expect([whileOnlyOneIsThere, whileBothAreClosed, whileOneIsOpen, addressOf(registry, "merge")]).toEqual([
    "pdf/merge",
    "tool-ambiguous",
    "docx/merge",
    "tool-ambiguous",
  ]);
});

test("resolve() says what may have been meant", () => {
  const registry = setUp();

  const nearest = ["serach", "web/fetsh", "wbe/fetch", "mailer/sendd", "fetchh@1.2.0", "nothing-like-it"].map(
    (requested) => {
      const resolution = registry.resolve(requested);
      return !resolution.ok && resolution.failure.code === "tool-not-found" ? resolution.failure.details : undefined;
    },
  );

  expect(nearest).toEqual([
    { tool: "serach", nearest: ["search"], count: 4 },
    { tool: "web/fetsh", nearest: ["web/fetch"], count: 4 },
    { tool: "wbe/fetch", nearest: ["web/fetch"], count: 4 },
    { tool: "mailer/sendd", nearest: ["mail/send"], count: 4 },
    { tool: "fetchh@1.2.0", nearest: ["web/fetch"], count: 4 },
    { tool: "nothing-like-it", nearest: [], count: 4 },
  ]);
});

test("resolve() finds the owners of a name when only the owner is wrong", () => {
  const registry = createRegistry(() => {});
  for (const owner of ["one", "two", "three", "four"])
    registry.add(tool("run", "1.0.0"), { source: "component", name: owner });

  const resolution = registry.resolve("somebody-else-entirely/run");

  expect(!resolution.ok && resolution.failure.details).toEqual({
    tool: "somebody-else-entirely/run",
    skill: "somebody-else-entirely",
    nearest: ["one/run", "two/run", "three/run"],
    count: 4,
  });
});

test("resolve() repeats only the beginning of a huge address", () => {
  const registry = setUp();

  const resolution = registry.resolve("x".repeat(10_000_000));

  expect(!resolution.ok && resolution).toMatchObject({
    requested: "x".repeat(200),
    failure: { code: "address-invalid", details: { address: "x".repeat(200) } },
  });
});

test("resolve() takes what is no text for no address", () => {
  const registry = setUp();
  const asked = [undefined, null, 3, {}, [], Symbol("search"), 10n] as never[];

  const codes = asked.map((requested) => addressOf(registry, requested));

  expect(codes).toEqual(asked.map(() => "address-invalid"));
});

function setUp(): Registry {
  const registry = createRegistry(() => {});
  registry.add(tool("search"), { source: "global" });
  registry.add(tool("fetch", "1.2.0"), { source: "component", name: "web" });
  registry.add(tool("send", "2.0.0"), { source: "component", name: "mail" });
  registry.add(tool("send", "1.0.0"), { source: "component", name: "sms" });
  return registry;
}

function addressOf(registry: Registry, requested: string, from?: string): string {
  const resolution = registry.resolve(requested, from);
  return resolution.ok ? resolution.entry.address : resolution.failure.code;
}

function tool(name: string, version?: string): Tool {
  return defineTool({
    name,
    description: "Does something",
    ...(version !== undefined && { version }),
    run: () => null,
  });
}
