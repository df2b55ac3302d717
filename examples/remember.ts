/**
 * An agent that remembers a preference in a new session, says where it has it from, and forgets it when it is asked to: without a key
 * and without a network. After `npm install`:
 *
 *     npx node --conditions=@kitbag/source examples/remember.ts
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createWorkspace } from "kitbag";
import { createAgent, createMemorySkill, openLongTermMemory } from "kitbag/agent";
import { sqliteStore } from "kitbag/store";

const folder = mkdtempSync(join(tmpdir(), "kitbag-remember-"));

/** One session of a program: it opens the file, talks, and ends. */
async function talk(task: string): Promise<string> {
  const store = await sqliteStore({ file: join(folder, "kitbag.db") });
  const longTerm = openLongTermMemory({ store });
  const workspace = createWorkspace({ skills: [createMemorySkill(longTerm)] });
  const agent = createAgent({ model: "local", workspace, store, memory: { longTerm } });
  const { text } = await agent.run(task, { user: "ada" });
  await store.close();
  return text;
}

await talk("Remember that my favourite colour is green.");

const answer = await talk("What is my favourite colour?");
console.log(answer);
assert.match(answer, /^Your favourite colour: green\. You told me \(f1, \d{4}-\d\d-\d\d, run .+\)\.$/u);

await talk("Remember that my favourite colour is blue.");
assert.match(await talk("What is my favourite colour?"), /blue/u);

const store = await sqliteStore({ file: join(folder, "kitbag.db") });
const ada = openLongTermMemory({ store }).of({ user: "ada" });
const history: string[] = [];
for await (const { value, to } of ada.facts({ closed: true }))
  history.push(to === undefined ? value : `${value}, before`);
assert.deepEqual(history, ["blue", "green, before"]);

await ada.forget({ key: "favourite colour" });
assert.deepEqual((await ada.recall("favourite colour")).facts, []);
await store.close();
assert.doesNotMatch(await talk("What is my favourite colour?"), /blue|green/u);
rmSync(folder, { recursive: true, force: true });
