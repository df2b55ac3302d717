import { availableParallelism } from "node:os";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";
import { connectHttp, startHttp } from "../../../test/support/serve-kitbag.ts";

vi.setConfig({ testTimeout: 120_000 });

const tools = `import { defineTool } from "kitbag";
const end = Promise.withResolvers();
let begun = 0;
const hold = defineTool({ name: "hold", description: "Waits", run: () => ((begun += 1), end.promise) });
const look = defineTool({ name: "look", description: "Counts", run: () => String(begun) });
const release = defineTool({ name: "release", description: "Ends", run: () => (end.resolve("done"), String(begun)) });
export default [hold, look, release];`;

test("kitbag serve --http runs a share of 60 calls of one user at once, and another user's calls are not behind the rest", async () => {
  const project = createProject({ "tools.ts": tools });
  const [ann, bob] = await Promise.all(["ann", "bob"].map((name) => makeToken(name)));
  const server = await startHttp(project, ["--module", "tools.ts", "--store", "memory"]);
  const [one, two] = await Promise.all([connectHttp(server.url, ann ?? ""), connectHttp(server.url, bob ?? "")]);
  const ask = async (tool: string): Promise<unknown> => (await two?.callTool({ name: tool, arguments: {} }))?.content;
  const share = Math.min(60, 4 * availableParallelism());

  const held = Array.from({ length: 60 }, () => one?.callTool({ name: "hold", arguments: {} }, { timeout: 60_000 }));
  await expect.poll(() => ask("look"), { timeout: 20_000 }).toEqual([{ type: "text", text: String(share) }]);
  // All of ann's calls are there; those that found no place wait, and bob's go before them.
  const atTheEnd = await ask("release");
  const answers = await Promise.all(held);

  expect(atTheEnd).toEqual([{ type: "text", text: String(share) }]);
  expect(answers.filter((answer) => answer?.isError !== true)).toHaveLength(60);

  async function makeToken(name: string): Promise<string> {
    const added = await runKitbag(["token", "add", name, "--json"], { project });
    return (JSON.parse(added.stdout) as { readonly token: string }).token;
  }
});
