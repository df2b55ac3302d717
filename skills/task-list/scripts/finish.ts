#!/usr/bin/env node
// Mark a task as done, and tell which one is next.
//
// Usage: finish.ts <number> [--note <text>]
//
//   <number>       the number of the task
//   --note <text>  what came out, or why it was not done
import { parseArgs } from "node:util";

import { changeTasks, fail, print } from "./tasks.ts";

const { values, positionals } = parseArgs({ options: { note: { type: "string" } }, allowPositionals: true });
const number = Number(positionals[0]);
if (!Number.isInteger(number) || number < 1) fail(`finish: ${positionals[0] ?? "nothing"} is not the number of a task`);

const { note } = values;
const tasks = await changeTasks((before) => {
  if (number > before.length) fail(`finish: there is no task ${number}; there are ${before.length}`);
  return before.map((task) =>
    task.number === number ? { ...task, done: true, ...(note !== undefined && { note }) } : task,
  );
});
const open = tasks.filter(({ done }) => !done);
print({ finished: number, open: open.length, next: open[0] ?? null });
