import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

/** Our folder of skills is beside `src` and beside `dist`. */
export const exampleSkills: string = resolve(import.meta.dirname, "../../../../skills");

/** A request that can be tried at once, and what must be there for it. */
interface ExampleRequest {
  readonly text: string;
  readonly needs?: string;
}

const requests: readonly ExampleRequest[] = [
  { text: "How many words does README.md have?", needs: "README.md" },
  { text: "What is the sha256 of 'hello world'?" },
  { text: "Make a table of contents of README.md", needs: "README.md" },
  { text: "Which files change most in this repository?", needs: ".git" },
  { text: "Is 4539 1488 0343 6467 a valid card number?" },
  { text: "Add the task 'Write the report' to the list" },
];

/** Requests over the example skills that work in a folder. */
export function findExampleRequests(cwd: string, count: number): readonly string[] {
  const fit = requests.filter(({ needs }) => needs === undefined || existsSync(join(cwd, needs)));
  return fit.slice(0, count).map(({ text }) => text);
}
