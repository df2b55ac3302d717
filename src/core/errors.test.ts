import { inspect } from "node:util";

import { expect, expectTypeOf, test } from "vitest";

import {
  describeCause,
  describeProblem,
  errorCodes,
  isKitbagError,
  KitbagError,
  quote,
  toFailure,
  type ErrorCode,
  type ErrorDetails,
  type Problem,
} from "./errors.ts";

test("errorCodes are sorted, and each is a noun and its state", () => {
  expect(errorCodes).toEqual(errorCodes.toSorted());
  expect(errorCodes.filter((code) => !/^[a-z]+(?:-[a-z]+)+$/u.test(code))).toEqual([]);
});

test.for(errorCodes)("the message of %s starts with Cannot and has no full stop at the end", (code) => {
  for (const message of messagesOf(code)) {
    if (code !== "usage-invalid") expect(message).toMatch(/^Cannot [a-z]/u);
    expect(message).not.toMatch(/[.!\s]$/u);
    expect(message).not.toMatch(/undefined|\[object/u);
  }
});

test.for(errorCodes)("the message of %s contains no contraction", (code) => {
  for (const message of messagesOf(code)) expect(message).not.toMatch(/\b\w+n't\b|\bit's\b/u);
});

test("the message of config-untrusted does not say of data that it runs", () => {
  const { message } = new KitbagError("config-untrusted", { path: "kitbag.config.json", changed: [] });

  expect(message).toBe(
    'Cannot load "kitbag.config.json": it can start programs, send prompts and keys elsewhere, or loosen limits, and is not trusted; read it, then run: kitbag trust kitbag.config.json',
  );
});

test("the message of config-untrusted names the keys that need trust", () => {
  const details = { path: "kitbag.config.json", keys: ["model", "limits.maxCalls"] };
  const messages = [[], ["kitbag.config.json"]].map(
    (changed) => new KitbagError("config-untrusted", { ...details, changed }).message,
  );

  expect(messages).toEqual([
    'Cannot load "kitbag.config.json": it sets model, limits.maxCalls, which can start programs, send prompts and keys elsewhere, or loosen limits, and is not trusted; read it, then run: kitbag trust kitbag.config.json',
    'Cannot load "kitbag.config.json": changed since it was trusted: kitbag.config.json; it sets model, limits.maxCalls; read the change, then run: kitbag trust kitbag.config.json',
  ]);
});

test("the message of quota-reached says how much is used, when it starts again, and who can raise it", () => {
  const messages = [
    { quota: "dollars", limit: 2.5, used: 2.61, startsAgain: "2026-11-19T00:00:00Z" } as const,
    { quota: "drafts", limit: 1, used: 1, startsAgain: "2026-11-19T00:00:00Z" } as const,
    { quota: "concurrent", limit: 4, used: 4 } as const,
    { quota: "bytes", limit: 1000, used: 990 } as const,
  ].map((details) => new KitbagError("quota-reached", { user: "ann", ...details }).message);

  expect(messages).toEqual([
    'Cannot use more: the user "ann" has used 2.61 of 2.5 dollars a day; counting starts again at 2026-11-19T00:00:00Z. The operator can raise it: kitbag quota set ann --dollars <amount>',
    'Cannot use more: the user "ann" has used 1 of 1 draft a day; counting starts again at 2026-11-19T00:00:00Z. The operator can raise it: kitbag quota set ann --drafts <amount>',
    'Cannot use more: the user "ann" may have 4 calls running at once; wait until a call ends. The operator can raise it: kitbag quota set ann --concurrent <amount>',
    'Cannot use more: the user "ann" keeps 990 of at most 1000 bytes, and this would be more; delete state, or wait until kept outputs are deleted. The operator can raise it: kitbag quota set ann --bytes <amount>',
  ]);
});

test("the message of quota-reached names the user as a shell takes it, and no name that cannot be typed", () => {
  const commands = ["oauth:ann o'hara", "a\u0007b"].map((user) => {
    const { message } = new KitbagError("quota-reached", { user, quota: "calls", limit: 1, used: 1 });
    return message.split("kitbag quota set ")[1];
  });

  expect(commands).toEqual(["'oauth:ann o'\\''hara' --calls <amount>", "<user> --calls <amount>"]);
});

test("the message of version-conflict says what changed, and claims no other version where there is none", () => {
  const base = { address: "say", expected: "1.0.0", current: "1.0.1" };

  const found = [{ changed: ["code"] }, { changed: [] }, { current: "1.0.0", changed: [] }].map(
    (more) => toFailure("version-conflict", { ...base, ...more }).message,
  );

  expect(found).toEqual([
    'Cannot change "say": its version is 1.0.1 now, not 1.0.0 (changed: code); read it again, then repeat the change',
    'Cannot change "say": its version is 1.0.1 now, not 1.0.0 (replaced); read it again, then repeat the change',
    'Cannot change "say": it has changed; read it again, then repeat the change',
  ]);
});

test("the message of tool-not-made says where a tool of a skill is edited", () => {
  const toMessage = (more: object): string => toFailure("tool-not-made", { tool: "greeter/say", ...more }).message;

  expect(toMessage({ skill: "greeter", folder: ".kitbag/skills/greeter" })).toBe(
    'Cannot work on "greeter/say": it is a tool of the skill "greeter", and changes with it: if the skill was made here, with create_skill and "replace"; else edit its files in .kitbag/skills/greeter, then run: kitbag trust .kitbag/skills/greeter, and kitbag test greeter/say',
  );
  expect(toMessage({ skill: "greeter" })).toContain(
    'not made in this workspace, but belongs to the skill "greeter"; only',
  );
  expect(toMessage({})).toContain("it was not made in this workspace; only tools");
});

test.for([
  [
    new KitbagError("tool-not-found", { tool: "a", nearest: [], count: 0 }),
    'Cannot find the tool "a": there are no tools here',
  ],
  [
    new KitbagError("skill-not-found", { skill: "a", nearest: [], count: 0 }),
    'Cannot find the skill "a": there are no skills here',
  ],
  [
    new KitbagError("run-not-found", { run: "3f2b", nearest: ["3f2a"] }),
    'Cannot find the run "3f2b": it is not in this store; did you mean "3f2a"? kitbag runs list shows those that are',
  ],
  [
    new KitbagError("run-not-found", { run: "3f2b" }),
    'Cannot find the run "3f2b": it is not in this store; kitbag runs list shows those that are',
  ],
] as const)("the message of %s tells whether something near is there", ([error, message]) => {
  expect(error.message).toBe(message);
});

test("run-damaged says where to go on, if there is a sound step", () => {
  const damage = { run: "3f2b", line: 4, problem: "it has no type" };
  const toMessage = (soundStep?: number): string =>
    new KitbagError("run-damaged", { ...damage, ...(soundStep !== undefined && { soundStep }) }).message;

  expect(toMessage(2)).toBe(
    'Cannot read the run "3f2b": line 4 of its journal is damaged (it has no type); continue from the last complete step before it with kitbag runs fork 3f2b --step 2, or restore the store from a backup',
  );
  expect(toMessage()).toBe(
    'Cannot read the run "3f2b": line 4 of its journal is damaged (it has no type); restore the store from a backup',
  );
});

test("tool-not-found names what is similar, or that there is nothing to call", () => {
  const toMessage = (nearest: readonly string[], count: number): string =>
    new KitbagError("tool-not-found", { tool: "serach", nearest, count }).message;

  expect(toMessage(["search"], 3)).toBe('Cannot find the tool "serach": did you mean "search"?');
  expect(toMessage([], 0)).toBe('Cannot find the tool "serach": there are no tools here');
});

test("the messages say what was wrong, where, and what to do", () => {
  const codes = ["input-invalid", "tool-not-found", "tool-unavailable", "config-untrusted", "store-failed"] as const;

  expect(codes.flatMap(messagesOf)).toMatchInlineSnapshot(`
    [
      "Cannot call "pdf/extract": the input is wrong: filters[0].size: expected a number, found "x"; sort: expected a number, found "x" (did you mean "ascending"?)",
      "Cannot call "pdf/extract": the input is wrong: filters[0].size: expected a number, found "x"; sort: expected a number, found "x" (did you mean "ascending"?)",
      "Cannot find the tool "pdf/extract": the skill "pdf" was not found, or has no tools; a similar tool is "pdf/extract" or "pdf/merge"",
      "Cannot find the tool "pdf/extract": the skill "pdf" was not found, or has no tools",
      "Cannot call "pdf/extract": it belongs to the skill "pdf", which is closed; open skill "pdf" first",
      "Cannot call "pdf/extract": it belongs to the skill "pdf", which is closed; open skill "pdf" first",
      "Cannot load "kitbag.config.ts": changed since it was trusted: kitbag.config.ts; read the change, then run: kitbag trust kitbag.config.ts",
      "Cannot load "kitbag.config.ts": it runs code in this process and is not trusted; read it, then run: kitbag trust kitbag.config.ts",
      "Cannot complete the call: the store failed (it is Monday); the tool did run",
      "Cannot complete the call: the store failed (it is Monday); the tool was not run",
    ]
  `);
});

test("the message of call-uncertain speaks of a key only to whoever gave one", () => {
  const messages = [{ tool: "pay", key: "k1" }, { tool: "pay" }].map(
    (details) => new KitbagError("call-uncertain", details).message,
  );

  expect(messages.map((message) => message.includes("key"))).toEqual([true, false]);
});

test("a message shows control and invisible characters of a name instead of obeying them", () => {
  const tool = "a\u001b[31m\n\u202eb\u200bc\u2028d\u{e0041}";

  const { message } = new KitbagError("tool-not-found", { tool, nearest: [], count: 1 });

  expect(message).toBe(
    String.raw`Cannot find the tool "a\u001b[31m\n\u202eb\u200bc\u2028d\u{e0041}": none of the 1 known tools has a similar name`,
  );
});

test("a message repeats at most 120 characters of a name", () => {
  const { message } = new KitbagError("tool-foreign", { tool: "a".repeat(10_000_000) });

  expect(message.length).toBeLessThan(300);
});

test("a message tells 20 problems and how many more there are", () => {
  const problems = Array.from({ length: 25 }, (_, index) => problem(`p${index}`));

  const { message } = new KitbagError("input-invalid", { tool: "a", problems });

  expect(message).toContain("p19: ");
  expect(message).not.toContain("p20: ");
  expect(message).toMatch(/; and 5 more$/u);
});

test("KitbagError is an error with a code, details, a cause and a stack", () => {
  const cause = new Error("below");

  const error = new KitbagError("tool-foreign", { tool: "a" }, { cause });

  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: "KitbagError", code: "tool-foreign", details: { tool: "a" }, cause });
  expect(error.stack).toContain("errors.test.ts");
  expectTypeOf(error.details).toEqualTypeOf<{ readonly tool: string }>();
});

test("KitbagError is written as JSON as the failure that it is, without its stack", () => {
  const error = new KitbagError("tool-foreign", { tool: "a" }, { cause: new Error("secret") });

  expect(JSON.parse(JSON.stringify(error))).toEqual(toFailure("tool-foreign", { tool: "a" }));
});

test("KitbagError shows nothing but its code and details when it is printed", () => {
  expect(inspect(new KitbagError("tool-foreign", { tool: "a" }))).not.toContain("Symbol");
});

test("the message of an overloaded model says when to come back, if the provider does", () => {
  const facts = { model: "a/b", reason: "busy" };

  expect(toFailure("model-overloaded", facts).message).not.toContain("after");
  expect(toFailure("model-overloaded", { ...facts, retryAfterMs: 3000 }).message).toContain("3");
});

test("toFailure() makes a failure as data", () => {
  expect(toFailure("call-timeout", { tool: "a", limitMs: 5 })).toEqual({
    code: "call-timeout",
    message: 'Cannot finish "a": it was still running after 5 ms',
    details: { tool: "a", limitMs: 5 },
  });
});

test("isKitbagError() narrows to the details of the code", () => {
  const error: unknown = new KitbagError("call-timeout", { tool: "a", limitMs: 5 });

  expect(isKitbagError(error)).toBe(true);
  expect(isKitbagError(error, "call-timeout") && error.details.limitMs).toBe(5);
  expect(isKitbagError(error, "tool-foreign")).toBe(false);
});

test("isKitbagError() knows an error of another copy of the package by its mark", () => {
  const foreign = Object.assign(new Error("b"), { [Symbol.for("kitbag.error")]: true, code: "tool-foreign" });

  expect(isKitbagError(foreign)).toBe(true);
  expect(isKitbagError(foreign, "tool-foreign")).toBe(true);
  expect(isKitbagError(foreign, "call-timeout")).toBe(false);
});

test.for<[what: string, make: () => unknown]>([
  ["nothing", () => undefined],
  ["null", () => null],
  ["a text", () => "tool-foreign"],
  ["a failure", () => toFailure("tool-foreign", { tool: "a" })],
  ["another error", () => Object.assign(new Error("a"), { code: "tool-foreign", details: {} })],
  ["a proxy that throws", () => revoked()],
])("isKitbagError() is false for %s", ([, make]) => {
  expect(isKitbagError(make())).toBe(false);
});

test.for<[what: string, make: () => unknown, words: string]>([
  ["an error", () => new Error("a b"), "a b"],
  ["an error without a message", () => new TypeError(), "TypeError"],
  ["a text", () => "a", "a"],
  ["nothing", () => undefined, "undefined"],
  ["a symbol", () => Symbol("a"), "Symbol(a)"],
  ["an error whose message is no text", () => Object.assign(new Error("a"), { message: 5n }), "5"],
  ["an object without a prototype", () => Object.create(null), "something that cannot be shown"],
  ["an object that throws", () => ({ toString: () => revoked() }), "something that cannot be shown"],
  ["a proxy that throws", () => revoked(), "something that cannot be shown"],
  ["a long text", () => "a".repeat(5000), `${"a".repeat(1000)}…`],
])("describeCause() says what %s was", ([, make, words]) => {
  expect(describeCause(make())).toBe(words);
});

test.for([
  ["a", '"a"'],
  ['a"b\\', String.raw`"a\"b\\"`],
  ["\u0000\t\u007f\u0085", String.raw`"\u0000\t\u007f\u0085"`],
  ["\u00ad\u061c\u200d\u2060\ufeff", String.raw`"\u00ad\u061c\u200d\u2060\ufeff"`],
  ["\u2028\u2029", String.raw`"\u2028\u2029"`],
  ["\ud83d", String.raw`"\ud83d"`],
  ["grün 漢字 😀", '"grün 漢字 😀"'],
  ["a".repeat(121), `"${"a".repeat(120)}…"`],
] as const)("quote() case %#", ([text, quoted]) => {
  expect(quote(text)).toBe(quoted);
});

test("describeProblem() writes a problem with and without a place and a cure", () => {
  expect(describeProblem({ path: "", expected: "a", found: "b" })).toBe("expected a, found b");
  expect(describeProblem({ path: "p", expected: "a", found: "b", didYouMean: "c" })).toBe(
    'p: expected a, found b (did you mean "c"?)',
  );
});

/** A value for every fact that a failure may come with. */
const facts = {
  home: "/home/ada/.kitbag",
  hook: "beforeCall",
  image: "photo.png",
  action: "call a/search",
  address: "my tool",
  attempt: 2,
  addresses: ["a/search", "b/search"],
  call: "3f2a91bc-1",
  chain: ["a", "b", "a"],
  changed: ["kitbag.config.ts"],
  current: "1.1.0",
  code: "tool-failed",
  console: "",
  count: 3,
  calls: [],
  conversation: "ada",
  cure: "install it",
  dependency: "requests",
  difference: "- a\n+ b",
  directory: "skills/pdf",
  entry: "../evil",
  epoch: 3,
  open: ["pdf", "git"],
  by: ["report", "mail"],
  expected: "2",
  file: "requirements.txt",
  found: "3",
  handle: "output:1",
  id: "m2k-1",
  hint: "grant it",
  refused: 'Cannot call "a"',
  interpreter: "ruby",
  key: "k",
  job: "run-1",
  kind: "wasm",
  known: ["function", "script"],
  lacks: ["network"],
  language: "rust",
  limit: 5,
  limitBytes: 1000,
  host: "0.0.0.0",
  limitMs: 50,
  lines: ["main.c:1: wrong"],
  name: "pdf",
  names: ["user"],
  newest: 1,
  queue: "runs",
  store: "sqlite",
  version: 2,
  mayBeWritten: true,
  author: "writer",
  caller: "quiet/go",
  guard: "no-cards",
  place: "answer",
  model: "openai/gpt-6-sol",
  need: "nothing reads images",
  nearest: ["pdf/extract", "pdf/merge"],
  operation: "kv.set",
  option: "limits.maxDepth",
  owner: "pdf",
  package: "requests",
  peer: "pg",
  permission: 'read = "/"',
  phase: "first part",
  accept: "kitbag store accept",
  problem: "not-found",
  path: "kitbag.config.ts",
  pipeline: "report",
  line: 3,
  soundStep: 2,
  position: 7,
  provider: "opnai",
  problems: [problem("filters[0].size"), { ...problem("sort"), didYouMean: "ascending" }],
  quota: "calls",
  used: 5,
  startsAgain: "2026-11-19T00:00:00Z",
  ran: true,
  rate: "100 calls in 1 min per user",
  reason: "it is Monday",
  missing: "the tool send",
  reasons: ["appendonly is no"],
  retryAfterMs: 1234,
  rule: "*",
  run: "run-1",
  sandbox: "unshare",
  server: "github",
  signal: "SIGKILL",
  skill: "pdf",
  source: "main.c",
  status: 503,
  stderr: "no such file",
  step: "fetch",
  target: "example.org:443",
  tried: ["unshare: there is no perl"],
  tool: "pdf/extract",
  user: "postgresStore",
  variables: ["OPENAI_API_KEY"],
  until: "2026-11-16T03:00:00.000Z",
  what: "roll was not called",
  worker: "worker-1",
  where: "runs/1",
  which: "1.2.0",
  scopes: ["tools:read"],
  session: "3f2a91bc",
  approvals: ["run-1:1.0", "run-1:1.1"],
  times: 4,
  text: "Once upon",
};

/** The same, with nothing in the lists. */
const sparse = {
  ...facts,
  changed: [],
  entry: undefined,
  hint: undefined,
  refused: undefined,
  known: [],
  mayBeWritten: false,
  lines: [],
  nearest: [],
  open: [],
  by: ["report"],
  package: undefined,
  ran: false,
  signal: undefined,
  status: undefined,
  stderr: "",
  variables: [],
  approvals: ["run-1:1.0"],
  times: 1,
};

function messagesOf(code: ErrorCode): string[] {
  return [facts, sparse].map((details) => new KitbagError(code, details as unknown as ErrorDetails[ErrorCode]).message);
}

function problem(path: string): Problem {
  return { path, expected: "a number", found: '"x"' };
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
