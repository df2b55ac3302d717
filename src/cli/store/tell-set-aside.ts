import type { AuditProblem } from "../../records/audit/audit-entry.ts";
import type { AuditVerdict } from "../../records/audit/check-chain.ts";
import { showTime } from "./show-time.ts";

/** What a problem with an entry of the audit means. */
export const meanings: Readonly<Record<AuditProblem, string>> = {
  changed: "something in it was changed",
  removed: "one or more entries before it were removed",
  inserted: "it was put in by somebody without the key",
  reordered: "it stands before one that it follows",
  "cut-off": "it and all behind it are missing: the end was cut off",
  rewritten: "it is not the entry that the head in KITBAG_HOME knows",
  "key-wrong": "it was made with another key",
  "anchor-missing": "nothing says whether it is the end: the head in KITBAG_HOME is missing",
};

/** A line for each place at which the audit was broken and somebody went on behind it. */
export function tellSetAside(verdict: AuditVerdict | undefined): readonly string[] {
  const setAside = verdict?.ok === true ? (verdict.setAside ?? []) : [];
  return setAside.map(({ broken, problem, position, time }) => {
    const part = broken < position ? `Entries ${broken} to ${position - 1} prove nothing` : `The audit ended too early`;
    return `${part}. Entry ${broken}: ${meanings[problem]}. Somebody went on behind it with entry ${position}, on ${showTime(time)}`;
  });
}
