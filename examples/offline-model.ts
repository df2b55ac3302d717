/**
 * Development and tests without a key, a network or costs: the model `local` is part of Kitbag. It is modest: it runs a tool when the
 * request names it or says clearly what it is for, and asks otherwise. After `npm install`:
 *
 *     npx node --conditions=@kitbag/source examples/offline-model.ts
 */
import assert from "node:assert/strict";

import { createWorkspace, defineTool } from "kitbag";
import { createAgent } from "kitbag/agent";
import { z } from "zod";

const createTodo = defineTool({
  name: "create-todo",
  description: "Formats a to-do item with its priority",
  input: z.object({
    task: z.string(),
    priority: z.enum(["low", "medium", "high"]).default("medium"),
    due: z.string().optional(),
  }),
  annotations: { readOnly: true },
  run: ({ task, priority, due }) => `[${priority.toUpperCase()}] ${task}${due === undefined ? "" : ` (due: ${due})`}`,
});

const agent = createAgent({ model: "local", workspace: createWorkspace({ tools: [createTodo] }) });

const { text, cost, usage } = await agent.run('create-todo task: "finish project report" priority: high');

console.log(text);
assert.match(text, /\[HIGH\] finish project report/u);
assert.deepEqual([cost, usage.toolCalls], [0, 1]);
