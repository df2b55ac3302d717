import { renderTable } from "../render-table.ts";
import { showDuration } from "../stats/show-duration.ts";
import type { Terminal } from "../terminal.ts";
import type { ModelCheck } from "./check-models.ts";
import { marks } from "./render-machine.ts";

/** Shows which models can be asked here, in a table. */
export function renderModels(checks: readonly ModelCheck[], terminal: Terminal): string {
  const rows = checks.map((check) => [
    { works: marks.ok, failed: marks.wrong, skipped: marks.note }[check.status],
    check.provider,
    check.model.startsWith(`${check.provider}/`) ? check.model.slice(check.provider.length + 1) : check.model,
    check.package,
    check.key,
    check.answerMs === undefined ? "" : showDuration(check.answerMs),
    check.callsTools === undefined ? "" : check.callsTools ? "yes" : "no",
    [check.status, check.found ?? ""].filter((part) => part !== "").join(": "),
  ]);
  return renderTable(["", "PROVIDER", "MODEL", "PACKAGE", "KEY", "ANSWERS IN", "CALLS TOOLS", "FOUND"], rows, terminal);
}
