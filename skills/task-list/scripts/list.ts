#!/usr/bin/env node
// List the tasks, with their numbers.
//
// Usage: list.ts [--open]
//
//   --open  only those that are not done
import { parseArgs } from "node:util";

import { print, readTasks } from "./tasks.ts";

const { values } = parseArgs({ options: { open: { type: "boolean", default: false } } });

const tasks = await readTasks();
const open = tasks.filter(({ done }) => !done);
print({ open: open.length, done: tasks.length - open.length, tasks: values.open ? open : tasks });
