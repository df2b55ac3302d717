import type { SkillReport } from "../../skills/load/skill-report.ts";
import { toPrintable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";

/** Says on standard error why a skill that was asked for is not there, or lacks the tool: the first thing that is wrong with it. */
export function noteSkipped(reports: readonly SkillReport[], address: string, terminal: Pick<Terminal, "note">): void {
  const [owner] = address.split("/", 1);
  for (const { name, status, path, diagnostics } of reports) {
    const wrong =
      diagnostics.find(({ severity }) => severity === "error") ?? (status === "skipped" ? diagnostics[0] : undefined);
    if (name !== owner || wrong === undefined) continue;
    const what = status === "skipped" ? `The skill ${name} was skipped` : `The skill ${name} has something wrong`;
    terminal.note(`${toPrintable(`${what}: ${wrong.message}; for all of it, run: kitbag check ${path}`)}\n`);
  }
}
