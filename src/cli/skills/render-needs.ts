import type { SkillNeed } from "../../skills/load/find-needs.ts";
import { toPrintableLine } from "../printable.ts";
import { renderTable } from "../render.ts";
import type { Terminal } from "../terminal.ts";

const kinds: Readonly<Record<SkillNeed["kind"], string>> = {
  read: "read",
  write: "write",
  network: "network",
  env: "env",
  run: "run",
  packages: "package",
};

/** Writes what the scripts of a skill seem to need, with the lines that show it: what a yes grants, and what it does not. */
export function renderNeeds(needs: readonly SkillNeed[], terminal: Terminal): string[] {
  if (needs.length === 0) return [];
  const granted = needs.filter(({ held }) => held === undefined).map(({ kind, what, at }) => [kinds[kind], what, at]);
  const held = needs.flatMap(({ kind, what, at, held: why }) =>
    why === undefined ? [] : [`  ${toPrintableLine(`${kinds[kind]} ${what} (${at}): ${why}`)}`],
  );
  return [
    ...(granted.length === 0
      ? []
      : [
          `A yes grants what its scripts seem to need:\n${renderTable(["KIND", "WHAT", "SEEN AT"], granted, terminal)}`,
        ]),
    ...(held.length === 0 ? [] : [`Seen, and not granted by a yes:\n${held.join("\n")}`]),
    "Files that a call names need no grant. The code may need more than can be seen in it: kitbag call --learn shows it.",
  ];
}
