/** How many lines are shown before and behind what differs. */
const around = 2;

/** Shows where two texts differ, from the first line that does to the last: `-` was, `+` is. Empty if they are the same. */
export function diffLines(before: readonly string[], now: readonly string[]): string {
  const least = Math.min(before.length, now.length);
  let start = 0;
  while (start < least && before[start] === now[start]) start += 1;
  if (start === before.length && start === now.length) return "";
  let end = 0;
  while (end < least - start && before[before.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  return [
    ...before.slice(Math.max(0, start - around), start).map((line) => `  ${line}`),
    ...before.slice(start, before.length - end).map((line) => `- ${line}`),
    ...now.slice(start, now.length - end).map((line) => `+ ${line}`),
    ...now.slice(now.length - end, now.length - end + around).map((line) => `  ${line}`),
  ].join("\n");
}
