// The list that the other scripts share; import it.

export interface Task {
  readonly number: number;
  readonly text: string;
  readonly done: boolean;
  readonly note?: string;
}

const key = "tasks";

// Without Kitbag there is no such module, and nobody who keeps the list.
const kitbag = await import("kitbag").then(
  (module) => module.default,
  () => undefined,
);
if (kitbag?.available() !== true) fail("tasks: run it with Kitbag, which keeps the list: kitbag call task-list/list");

/** Ends the script with a message. */
export function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** The tasks, in the order in which they were added. */
export async function readTasks(): Promise<readonly Task[]> {
  return ((await kitbag.skillState.get(key)) as Task[] | undefined) ?? [];
}

/** Changes the list, unless somebody else changed it at the same time: then it is read and changed again. */
export async function changeTasks(change: (tasks: readonly Task[]) => readonly Task[]): Promise<readonly Task[]> {
  for (;;) {
    const entry = await kitbag.skillState.read(key);
    const tasks = change((entry?.value as Task[] | undefined) ?? []);
    if (await kitbag.skillState.compareAndSet(key, entry?.version ?? 0, tasks)) return tasks;
  }
}

/** Prints the answer. */
export function print(answer: unknown): void {
  process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
}
