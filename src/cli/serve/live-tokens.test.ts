import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, onTestFinished, test, vi } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { openTokens, type FollowedTokens, type LiveTokens, type TokenPlaces } from "./tokens.ts";
import { changeTokens, makeToken } from "./token-file.ts";

const ann = ["token", "of", "ann", "1234567890"].join("-");
const bob = ["token", "of", "bob", "1234567890"].join("-");

test("openTokens() makes a token for the local user when there is no file, and keeps its digest", async () => {
  const places = toOwn();
  const tokens = openTokens(places);

  const before = existsSync(places.files[0]?.path ?? "");
  const token = await tokens.keepFirst();

  expect(before).toBe(false);
  expect(await tokens.keepFirst()).toBe(token);
  expect(token).toMatch(/^kitbag_[\w-]{43}$/u);
  expect(tokens.current).toMatchObject([{ id: "local" }]);
  expect(readFileSync(places.files[0]?.path ?? "", "utf8")).not.toContain(token);
});

test("openTokens() makes no token the second time, and none beside one that another start just made", async () => {
  const places = toOwn();
  const [one, other] = [openTokens(places), openTokens(places)];

  const made = [await one.keepFirst(), await other.keepFirst(), await openTokens(places).keepFirst()];

  expect(made).toEqual([expect.any(String), undefined, undefined]);
  expect(other.current).toEqual(one.current);
});

test("openTokens() refuses a file from which all tokens were revoked", () => {
  const places = toOwn();
  writeFileSync(places.files[0]?.path ?? "", "# none\n", { mode: 0o600 });

  expect(() => openTokens(places)).toThrow("there is no token in it; make one with kitbag token add");
});

test("follow() gives the tokens of a file when it changes, whether it is written or replaced", async () => {
  const { path, tokens, applied } = open(`${ann} ann\n`);

  writeFileSync(path, `${ann} ann\n${bob} bob\n`);
  await vi.waitFor(() => expect(applied()).toEqual([["ann", "bob"]]), { timeout: 5000 });
  writeFileSync(`${path}.new`, `${bob} bob\n`);
  renameSync(`${path}.new`, path);
  await vi.waitFor(() => expect(applied()).toEqual([["ann", "bob"], ["bob"]]), { timeout: 5000 });

  expect(tokens.current).toEqual([{ token: bob, id: "bob" }]);
});

test("follow() gives what changed between the start and the moment at which it is called", () => {
  const path = join(createFolder(), "tokens");
  writeFileSync(path, `${ann} ann\n${bob} bob\n`);
  const tokens = openTokens({ given: [], files: [{ path, name: "--token @tokens", isOwn: false }] });
  const applied: unknown[] = [];

  writeFileSync(path, `${bob} bob\n`);
  const followed = tokens.follow((now) => applied.push(now), expect.fail);
  onTestFinished(followed.stop);

  expect(applied).toEqual([[{ token: bob, id: "bob" }]]);
  expect(tokens.current).toEqual([{ token: bob, id: "bob" }]);
});

test("follow() of several, one after the other, gives each what changed", () => {
  const { path, tokens, followed, applied } = open(`${ann} ann\n`);
  followed.stop();
  const later: unknown[] = [];

  writeFileSync(path, `${bob} bob\n`);
  onTestFinished(tokens.follow((now) => later.push(now), expect.fail).stop);

  expect([applied(), later]).toEqual([[], [[{ token: bob, id: "bob" }]]]);
});

test("refresh() takes a change of the file of kitbag token at once", async () => {
  const places = toOwn();
  const tokens = openTokens(places);
  await tokens.keepFirst();
  const applied: unknown[] = [];
  const followed = tokens.follow((now) => applied.push(now.map(({ id }) => id)), expect.fail);
  onTestFinished(followed.stop);

  followed.refresh();
  await changeTokens(places.files[0]?.path ?? "", (lines = []) => [...lines, makeToken("ann", "all").line]);
  followed.refresh();

  expect(applied).toEqual([["local", "ann"]]);
});

test("refresh() leaves a file that a person writes, which may be half written, to the next looks", () => {
  const { path, followed, applied } = open(`${ann} ann\n`);

  writeFileSync(path, `${ann} ann\n${bob} bob\n`);
  followed.refresh();

  expect(applied()).toEqual([]);
});

test("follow() takes a file with comments only as one from which all tokens were taken", async () => {
  const { path, applied } = open(`${ann} ann\n`);

  writeFileSync(path, "# nobody\n");

  await vi.waitFor(() => expect(applied()).toEqual([[]]), { timeout: 5000 });
});

test.for<[string, (path: string) => void]>([
  ["is empty", (path) => writeFileSync(path, "")],
  ["is half written", (path) => writeFileSync(path, `${ann} ann\nsha256:0123`)],
  ["ends in the middle of the scopes", (path) => writeFileSync(path, `${ann} ann tools`)],
  ["ends in the middle of a token", (path) => writeFileSync(path, `${ann} ann\n${bob.slice(0, 18)}`)],
  ["has a name that cannot be one", (path) => writeFileSync(path, `${ann} a/b\n`)],
  ["is gone", (path) => rmSync(path)],
])("follow() keeps the tokens of before when the file %s, and says so once", async ([, damage]) => {
  const { path, tokens, applied, problems, followed } = open(`${ann} ann\n`);

  damage(path);
  await vi.waitFor(() => expect(problems).toHaveLength(1), { timeout: 5000 });
  await new Promise((resolve) => setTimeout(resolve, 600));

  expect(problems).toEqual([
    expect.stringMatching(/^Cannot read --token @tokens: .*; the tokens of before stay good$/u),
  ]);
  expect([tokens.current, applied()]).toEqual([[{ token: ann, id: "ann" }], []]);
  writeFileSync(path, `${bob} bob\n`);
  followed.reread();
  expect(applied()).toEqual([["bob"]]);
});

test("follow() keeps the tokens of before when they are refused where they are used", () => {
  const { path, tokens, problems, followed } = open(`${ann} ann\n`, () => {
    throw new Error("no such token");
  });

  writeFileSync(path, `${bob} bob\n`);
  followed.reread();

  expect(problems).toEqual(["no such token; the tokens of before stay good"]);
  expect(tokens.current).toEqual([{ token: ann, id: "ann" }]);
});

interface Opened {
  readonly path: string;
  readonly tokens: LiveTokens;
  readonly followed: FollowedTokens;
  readonly problems: string[];
  /** Whose tokens were applied, each time. */
  applied(): (string | undefined)[][];
}

function open(text: string, check = (): void => {}): Opened {
  const path = join(createFolder(), "tokens");
  writeFileSync(path, text);
  const tokens = openTokens({ given: [], files: [{ path, name: "--token @tokens", isOwn: false }] });
  const applied: (string | undefined)[][] = [];
  const problems: string[] = [];
  const followed = tokens.follow(
    (now) => {
      check();
      applied.push(now.map(({ id }) => id));
    },
    (problem) => problems.push(problem),
  );
  onTestFinished(followed.stop);
  return { path, tokens, followed, problems, applied: () => applied };
}

function toOwn(): TokenPlaces {
  const path = join(createFolder(), "tokens");
  return { given: [], files: [{ path, name: path, isOwn: true }] };
}
