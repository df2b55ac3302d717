import type { UntilThen } from "./error-details.ts";

/** How much of a text, and how many calls, a message repeats; all that is kept is in the details. */
const longestSaid = 1000;
const mostNamed = 20;

/** What a tool that was stopped had called and said, as lines below a message. */
export function sayUntilThen({ stdout, stderr, console, calls = [] }: UntilThen = {}): string {
  const named = calls.slice(-mostNamed).map(({ tool, status }) => `${tool} (${status})`);
  const parts = [
    ["it had called", named.join(", ")],
    ["it had printed", stdout ?? console],
    ["and on stderr", stderr],
  ];
  return parts
    .map(([what, text = ""]) => (text === "" ? "" : `\n→ ${what}: ${text.slice(-longestSaid).trimEnd()}`))
    .join("");
}
