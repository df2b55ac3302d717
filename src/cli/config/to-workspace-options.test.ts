import { expect, test } from "vitest";

import { localModel } from "../../models/local/local-model.ts";
import { findGrants, parseJsonConfig, toWorkspaceOptions, withoutGrants } from "./to-workspace-options.ts";

test("parseJsonConfig() reads limits", () => {
  expect(parseJsonConfig('\uFEFF{"limits": {"limitMs": 5}}', "/x.json")).toEqual({ limits: { limitMs: 5 } });
});

test("parseJsonConfig() reads the name of a model", () => {
  expect(parseJsonConfig('{"model": "ollama/qwen3"}', "/x.json")).toEqual({ limits: {}, model: "ollama/qwen3" });
});

test("parseJsonConfig() and toWorkspaceOptions() read what clients see and what they may make", async () => {
  const serve = { exposure: [{ client: "claude*", exposure: "dispatch" }] };
  const forge = { policy: { permissions: { read: ["./data"] }, maxTools: 20 } };

  expect(parseJsonConfig(JSON.stringify({ serve, forge }), "/x.json")).toEqual({ limits: {}, serve, forge });
  expect(await toWorkspaceOptions({ serve: { exposure: "direct" }, forge: {} }, "/x.ts")).toEqual({
    serve: { exposure: "direct" },
    forge: {},
  });
});

test.for([
  ["nothing", {}],
  ["the offline model", { model: "local" }],
  ["what clients see", { serve: { exposure: "direct" } }],
  ["limits that are stricter, or as they are anyway", { limits: { limitMs: 30_000, maxDepth: 3 } }],
] as const)("findGrants() finds nothing in data that says %s", ([, data]) => {
  const config = parseJsonConfig(JSON.stringify({ ...data, mcp: {} }), "/x.json");

  expect(findGrants(config)).toEqual([]);
  expect(withoutGrants(config)).toEqual({ limits: {}, ...data });
});

test.for([
  ["a server", '{"mcp": {"far": {"url": "https://example.com/mcp"}}}', "mcp.far"],
  ["what models may make", '{"forge": {"policy": {}}}', "forge"],
  ["where packages come from", '{"packages": {"index": {"python": "https://example.com/simple"}}}', "packages"],
  ["a model at a URL", '{"model": "openai-compatible:http://127.0.0.1:48123/v1/x"}', "model"],
  ["a model of a provider", '{"model": "openai/gpt-6-sol"}', "model"],
  ["a model of a local server, which may send on what it gets", '{"model": "ollama/qwen3"}', "model"],
  ["a limit that is looser", '{"limits": {"maxCalls": 100000}}', "limits.maxCalls"],
  ["a limit without an end", '{"limits": {"maxDepth": 1e999}}', "limits.maxDepth"],
  ["idempotency keys that are forgotten", '{"limits": {"keyMs": 1}}', "limits.keyMs"],
])("R16: findGrants() names %s, which counts only if it is trusted", ([, text = "", key]) => {
  const config = parseJsonConfig(text, "/x.json");

  expect(findGrants(config)).toEqual([key]);
  expect(withoutGrants(config)).toEqual({ limits: {} });
});

test.for(['{"limits": {"maxDepht": 3}}', '{"model": "ollama/qwen3", "limits": {"maxDepth": "3"}}'])(
  "parseJsonConfig() refuses a wrong limit before anybody is asked to trust it: %s",
  (text) => {
    expect(() => parseJsonConfig(text, "/x.json")).toThrow(/^Cannot use "\/x\.json": .*limits\.maxDep/u);
  },
);

test("toWorkspaceOptions() takes prices, and says what is wrong with one", async () => {
  const prices = { "openai-compatible/*": { input: 0.5, output: 2 } };

  expect(await toWorkspaceOptions({ prices }, "/x.ts")).toEqual({ prices });
  await expect(toWorkspaceOptions({ prices: { "a/b": { input: -1, output: 2 } } }, "/x.ts")).rejects.toThrow(
    "expected US dollars for a million tokens",
  );
  await expect(toWorkspaceOptions({ prices: [] }, "/x.ts")).rejects.toThrow("prices: expected an object");
  expect(() => parseJsonConfig(JSON.stringify({ prices }), "/x.json")).toThrow("write a kitbag.config.ts");
});

test("toWorkspaceOptions() takes a model, or the name of one, and nothing else", async () => {
  const model = localModel();

  expect(await toWorkspaceOptions({ model }, "/x.ts")).toEqual({ model });
  expect(await toWorkspaceOptions({ model: "local" }, "/x.ts")).toEqual({ model: "local" });
  await expect(toWorkspaceOptions({ model: 3 }, "/x.ts")).rejects.toThrow(
    "model: expected a model or the name of one, found 3",
  );
});

test.for([
  ["", "it is not JSON"],
  ["{", "it is not JSON"],
  ["[]", "found an empty list"],
  ["null", "found null"],
  ['{"limits": 3}', "limits: expected an object, found 3"],
  ['{"model": {"doStream": 1}}', "model: expected a model or the name of one"],
  ['{"limits": null}', "limits: expected an object, found null"],
  ['{"rates": {"per": "user"}}', "rates: expected a list of objects"],
  ['{"rates": [3]}', "rates: expected a list of objects"],
  ['{"rates": [{"per": "user", "calls": 0, "inMs": 1000}]}', "rates[0].calls"],
  ['{"rates": [{"per": "nobody", "calls": 1, "inMs": 1000}]}', "rates[0].per"],
  ['{"rates": [{"calls": 1, "inMs": 1000}]}', "rates[0].per"],
  ['{"limit": {}}', 'it cannot have "limit"; did you mean "limits"?'],
  ['{"serve": {"exposure": "all"}}', "serve: exposure"],
  ['{"serve": {"exposures": "both"}}', 'did you mean "exposure"?'],
  ['{"serve": {"exposure": [{"client": "x", "exposure": "dipatch"}]}}', "serve: exposure[0].exposure"],
  ['{"forge": {"policy": {"permissions": {"reads": []}}}}', 'did you mean "read"?'],
  ['{"forge": {"policy": {"maxTools": 0}}}', "forge: policy.maxTools"],
  ['{"forge": 3}', "forge: "],
  ['{"tools": []}', 'it cannot have "tools"; JSON cannot hold it; write a kitbag.config.ts'],
  ['{"approve": "always"}', 'it cannot have "approve"; JSON cannot hold it'],
  ['{"__proto__": {"limits": {}}}', 'it cannot have "__proto__"'],
  ["[".repeat(100_000), "it is not JSON"],
] as const)("parseJsonConfig() refuses %.40s", ([text, reason]) => {
  expect(() => parseJsonConfig(text, "/x.json")).toThrow(
    expect.objectContaining({ code: "config-invalid", message: expect.stringContaining(reason) as string }) as Error,
  );
});

test("parseJsonConfig() takes rates, which need no trust because they only limit", () => {
  const rates = [{ per: "user", calls: 10, inMs: 60_000 }];

  const config = parseJsonConfig(JSON.stringify({ rates }), "/x.json");

  expect(config.rates).toEqual(rates);
  expect(findGrants(config)).toEqual([]);
  expect(withoutGrants(config).rates).toEqual(rates);
});
