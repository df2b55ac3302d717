/**
 * A tool that asks a database. The connection is injected: the model sees one parameter, `sql`, and neither the connection nor its password.
 * After `npm install`:
 *
 *     npx node --conditions=@kitbag/source examples/database-access.ts
 *
 * Without a key a script plays the model; KITBAG_MODEL names a real one.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";

import { createWorkspace, defineTool, injected } from "kitbag";
import { createAgent } from "kitbag/agent";
import { mockModel } from "kitbag/testing";
import { z } from "zod";

const queryDatabase = defineTool({
  name: "query-database",
  description: "Answers a SELECT on the table users (id, name, joined as YYYY-MM-DD)",
  input: z.object({ sql: z.string() }),
  annotations: { readOnly: true },
  inject: { database: injected<DatabaseSync>() },
  // The connection is read-only: what the description says is not what protects the data.
  run: ({ sql }, { injected: { database } }) => database.prepare(sql).all() as Record<string, string | number>[],
});

const database = openUsers();
const sql = "SELECT count(*) AS users FROM users WHERE joined >= '2026-11-10'";
const script = mockModel([{ calls: [{ tool: "query-database", input: { sql } }] }, "2 users signed up."]);
const workspace = createWorkspace({ tools: [queryDatabase], injected: { database } });
const agent = createAgent({ model: process.env["KITBAG_MODEL"] ?? script, workspace, limits: { maxSteps: 4 } });

const { text } = await agent.run("How many users have signed up since 10 November 2026?");
const attack = await workspace.call(queryDatabase, { sql: "DELETE FROM users" });

console.log(text);
assert.match(text, /2|two/iu);
assert.deepEqual(workspace.getTool("query-database")?.tool.inputSchema["required"], ["sql"]);
assert.equal(attack.status, "failed");
assert.equal(database.prepare("SELECT count(*) AS count FROM users").get()?.["count"], 3);
database.close();

function openUsers(): DatabaseSync {
  const made = new DatabaseSync(":memory:");
  made.exec("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, joined TEXT)");
  const add = made.prepare("INSERT INTO users (name, joined) VALUES (?, ?)");
  for (const [name, joined] of [
    ["Ada", "2026-10-02"],
    ["Grace", "2026-11-11"],
    ["Edsger", "2026-11-15"],
  ] as const)
    add.run(name, joined);
  made.exec("PRAGMA query_only = ON");
  return made;
}
