#!/usr/bin/env node
// Add a task to the list.
//
// Usage: add.ts <text>
//
//   <text>  what is to be done
import { parseArgs } from "node:util";

import { changeTasks, fail, print } from "./tasks.ts";

const most = 200;

const { positionals } = parseArgs({ options: {}, allowPositionals: true });
const [text = "", ...others] = positionals;
if (text.trim() === "" || others.length > 0) fail("add: name one task, in one text");

const tasks = await changeTasks((before) => {
  if (before.length >= most) fail(`add: there are ${most} tasks already; finish some, or make them larger`);
  return [...before, { number: before.length + 1, text: text.trim(), done: false }];
});
print({ number: tasks.length, open: tasks.filter(({ done }) => !done).length });
