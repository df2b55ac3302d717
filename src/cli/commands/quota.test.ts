import { existsSync } from "node:fs";
import { userInfo } from "node:os";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag, type KitbagRun, type Project } from "../../../test/run-kitbag.ts";
import { connectHttp, startHttp } from "../../../test/support/serve-kitbag.ts";

vi.setConfig({ testTimeout: 120_000 });

test("kitbag quota sets, lists and clears quotas of a user, and of each user", async () => {
  const project = createProject({ ".kitbag/.gitignore": "" });
  const file = `${project.folder}/.kitbag/kitbag.db`;
  const run = (...words: string[]): Promise<KitbagRun> => runKitbag(["quota", ...words], { project });

  const none = await run();
  const set = await run("set", "ann", "--calls", "100", "--dollars", "2.5", "--bytes", "1.5MiB");
  const each = await run("set", "--each", "--calls", "10", "--concurrent", "4");
  await runKitbag(["token", "add", "bob"], { project });
  const listed = await run();
  const lifted = await run("set", "ann", "--concurrent", "none");
  const cleared = await run("clear", "ann", "calls", "bytes");
  const one = await run("list", "ann", "--json");
  await run("clear", "--each");
  await run("clear", "ann");
  const left = await run("list", "--json");

  expect(none.stdout).toContain("There are no quotas. To set one: kitbag quota set");
  expect(set.stdout).toBe(`The user "ann" has calls 100, dollars $2.50, bytes 1.5 MiB.
No token has the name "ann", and no user of this name has made a call: check the name.
Made the store: ${file}
`);
  expect(each.stdout).toBe(`Each user has calls 10, concurrent 4.
Store: ${file}. Services that use it follow within a second.
`);
  expect(
    listed.stdout.replaceAll(project.folder, "").replaceAll(/20\d\d-\d\d-\d\dT00:00:00Z/gu, "2026-11-19T00:00:00Z"),
  ).toMatchInlineSnapshot(`
    "USER         QUOTA       LIMIT    USED     STARTS AGAIN          SET BY
    (each user)  calls       10
    (each user)  concurrent  4
    ann          calls       100      0        2026-11-19T00:00:00Z  command
    ann          concurrent  4        0                              command, for each user
    ann          dollars     $2.50    $0       2026-11-19T00:00:00Z  command
    ann          bytes       1.5 MiB  0 bytes                        command
    bob          calls       10       0        2026-11-19T00:00:00Z  command, for each user
    bob          concurrent  4        0                              command, for each user
    Store: /.kitbag/kitbag.db
    "
  `);
  expect(lifted.stdout).toContain("concurrent none");
  expect(cleared.stdout).toContain('The user "ann" has dollars $2.50, concurrent none.');
  expect(JSON.parse(one.stdout)).toMatchObject({
    each: { calls: 10, concurrent: 4 },
    users: [
      {
        user: "ann",
        quotas: [
          { quota: "calls", limit: 10, used: 0, by: "command", for: "each" },
          { quota: "dollars", limit: 2.5, used: 0, by: "command", for: "user" },
        ],
      },
    ],
  });
  expect(JSON.parse(left.stdout)).toMatchObject({ each: {}, users: [] });
  expect((await run("list", "ann")).stdout).toContain('"ann" has no quotas');
});

test.for([
  [["set", "ann", "--calls", "-1"], 'Cannot use --calls "-1": expected a whole number from 0'],
  [["set", "ann", "--calls", "NaN"], "Cannot use --calls"],
  [["set", "ann", "--calls", "1e300"], "Cannot use --calls"],
  [["set", "ann", "--calls", "99999999999999999999"], "Cannot use --calls"],
  [["set", "ann", "--calls", "5KiB"], "Cannot use --calls"],
  [["set", "ann", "--concurrent", "0"], "Cannot use --concurrent"],
  [["set", "ann", "--dollars", "Infinity"], "Cannot use --dollars"],
  [["set", "ann", "--bytes", "5MX"], "or a size such as 64KiB, 100MB or 2GiB"],
  [["set", "ann"], "Cannot set quotas without an amount: say one of --calls"],
  [["set", "a\u0007n", "--calls", "5"], 'Cannot set quotas of "a\\u0007n": a name has no control characters'],
  [["ann"], 'Cannot run kitbag quota "ann": there is no such action; for the quotas of a user: kitbag quota list ann'],
  [["list", "ann", "bob"], "it takes at most 1 more word"],
  [["set", "ann", "--calls", "5"], "there is no store at"],
  [["set", "--calls", "5"], "name a user, or say --each"],
  [["set", "", "--calls", "5"], "name a user, or say --each"],
  [["set", "ann", "--each", "--calls", "5"], 'Cannot set quotas of "ann" and --each'],
  [["clear"], "name a user, or say --each"],
  [["clear", "ann", "cals"], 'Cannot clear "cals": the quotas are calls'],
  [["set", "ann", "--calls", "5", "--store", "none"], "nothing is kept there"],
  [["raise", "ann"], "there is no such action"],
] as const)("kitbag quota %j is refused", async ([words, reason]) => {
  const run = await runKitbag(["quota", ...words]);

  expect([run.code, run.stdout]).toEqual([2, ""]);
  expect(run.stderr).toContain(reason);
});

test("kitbag quota set in another folder makes no store, and names the stores that there are", async () => {
  const project = createProject({ ".kitbag/.gitignore": "" });
  await runKitbag(["quota", "set", "ann", "--calls", "1"], { project });
  const elsewhere = { ...createProject(), home: project.home };

  const refused = await runKitbag(["quota", "set", "ann", "--calls", "5"], { project: elsewhere });
  const [, command = ""] = /kitbag (quota set .*)$/mu.exec(refused.stderr) ?? [];
  const set = await runKitbag(command.split(" "), { project: elsewhere });

  expect([refused.code, command]).toEqual([
    2,
    `quota set ann --calls 5 --store sqlite:${project.folder}/.kitbag/kitbag.db`,
  ]);
  expect(set.stdout).toContain('The user "ann" has calls 5.');
  expect(existsSync(`${elsewhere.folder}/.kitbag`)).toBe(false);
});

test("kitbag quota takes sizes in both kinds of units, and says when clear had nothing to clear", async () => {
  const project = createProject({ ".kitbag/.gitignore": "" });
  const run = (...words: string[]): Promise<KitbagRun> => runKitbag(["quota", ...words], { project });
  const sizes: unknown[] = [];
  for (const size of ["100MB", "64kib", "2gb"]) {
    const { stdout } = await run("set", "ann", "--bytes", size, "--json");
    sizes.push((JSON.parse(stdout) as { readonly limits: object }).limits);
  }

  const cleared = await run("clear", "nobody");

  expect(sizes).toEqual([{ bytes: 100_000_000 }, { bytes: 65_536 }, { bytes: 2_000_000_000 }]);
  expect(cleared.stdout).toContain(
    'The user "nobody" had no quotas that were set with kitbag quota: nothing was changed.\n',
  );
});

test("kitbag quota shows the local user once, whatever the account is called", async () => {
  const account = userInfo().username;
  const project = createTools({ quotas: { users: { [account]: { calls: 100 } } } });
  await runKitbag(["call", "greet", "--module", "tools.ts"], { project });
  await runKitbag(["quota", "set", "local", "--drafts", "5"], { project });

  const listed = await runKitbag(["quota", "--json"], { project });

  expect((JSON.parse(listed.stdout) as { users: { user: string }[] }).users.map(({ user }) => user)).toEqual(["local"]);
});

test("a quota that is set by command holds in a service that runs, and is seen", async () => {
  const project = createTools({ quotas: { each: { drafts: 5 } } });
  const added = await runKitbag(["token", "add", "ann", "--json"], { project });
  const { token } = JSON.parse(added.stdout) as { readonly token: string };
  const server = await startHttp(project, ["--module", "tools.ts"]);
  const client = await connectHttp(server.url, token);
  const call = async (): Promise<string> => JSON.stringify(await client.callTool({ name: "greet", arguments: {} }));
  const before = await call();
  await runKitbag(["quota", "set", "ann", "--calls", "2"], { project });

  // Those that were made before it is known there are not counted.
  await expect.poll(call, { timeout: 10_000 }).toContain("quota");
  const refused = await call();
  const listed = await runKitbag(["quota", "list", "ann", "--json"], { project });
  await runKitbag(["quota", "clear", "ann"], { project });

  expect(before).toContain("Hello");
  expect(refused).toContain("has used 2 of 2 calls a day; counting starts again at 20");
  expect(refused).toContain("The operator can raise it: kitbag quota set");
  expect(JSON.parse(listed.stdout)).toMatchObject({
    users: [
      {
        user: "ann",
        quotas: [
          { quota: "calls", limit: 2, used: 2, by: "command" },
          { quota: "drafts", limit: 5, used: 0, by: "configuration", for: "each" },
        ],
      },
    ],
  });
  await expect.poll(call, { timeout: 10_000 }).toContain("Hello");
});

test("the local user has a quota if it is set, in commands too", async () => {
  const project = createTools({ quotas: { users: { local: { calls: 1 } } } });
  const call = (...words: string[]): Promise<KitbagRun> =>
    runKitbag(["call", "greet", "--module", "tools.ts", ...words], { project });

  const first = await call();
  const second = await call();
  const unkept = await call("--store", "none");

  expect([first.code, second.code, unkept.code]).toEqual([0, 1, 1]);
  expect(second.stderr).toContain('the user "local" has used 1 of 1 call a day');
  expect(unkept.stderr).toContain("expected a store beside them");
});

test("quotas of a configuration that are wrong are refused at the start, with their place", async () => {
  const project = createTools({ quotas: { users: { ann: { cals: 5 } } } });

  const run = await runKitbag(["call", "greet", "--module", "tools.ts"], { project });

  expect(run.code).toBe(1);
  expect(run.stderr).toContain('"quotas.users.ann.cals": found an unknown option, expected "calls"');
});

test("a quota in dollars is refused at the start if the price of the configured model is not known", async () => {
  const model = `{ specificationVersion: "v4", provider: "acme", modelId: "m", supportedUrls: {}, doGenerate() {}, doStream() {} }`;
  const config = `export default { model: ${model}, quotas: { each: { dollars: 1 } } };`;
  const project = createProject({ "kitbag.config.js": config, "package.json": '{"type":"module"}' });
  await runKitbag(["trust", "kitbag.config.js"], { project });

  const run = await runKitbag(["serve", "--http", "0", "--no-token"], { project });

  expect(run.stderr).toContain('Cannot apply maxCost or a quota in dollars to "acme/m": its price is not known');
  expect(run.code).toBe(1);
});

function createTools(config: object): Project {
  const tool = `import { defineTool } from "kitbag";
export default [defineTool({ name: "greet", description: "Greets", run: () => "Hello" })];`;
  return createProject({ "tools.ts": tool, "kitbag.config.json": JSON.stringify(config), ".kitbag/.gitignore": "" });
}
