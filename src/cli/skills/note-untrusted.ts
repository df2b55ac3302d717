import type { SkillReport } from "../../skills/load/skill-report.ts";
import { toPrintable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";

/** Says on standard error which skills may have what was not found: nobody knows their tools until their code is trusted. */
export function noteUntrusted(reports: readonly SkillReport[], terminal: Pick<Terminal, "note">): void {
  for (const { name, skill } of reports) {
    const { code, trust, directory = "" } = skill?.folder ?? {};
    if (code === undefined || trust?.status !== "untrusted") continue;
    const cure = `read it, then run: kitbag trust ${directory}`;
    terminal.note(`${toPrintable(`The tools of ${name} are not known: its ${code} is not trusted; ${cure}`)}\n`);
  }
}
