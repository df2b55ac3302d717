import type { RuntimesOptions } from "../../runtimes/runtimes-options.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import { type Answer, type Invocation, usageError } from "../cli-command.ts";
import { permissionKinds, scopesOf, type Permissions } from "../../core/permissions.ts";
import type { Attempt, LearnReport } from "../../runtimes/learn/learn-report.ts";
import { toPrintableLine } from "../printable.ts";
import { renderTable, toShownPath } from "../render.ts";
import type { Terminal } from "../terminal.ts";

/** Shows what a tool tried and the permissions that would let it. */
function renderLearned(report: LearnReport, cwd: string, terminal: Terminal): string {
  const { tool, attempts, rounds, notes, permissions } = report;
  const rows = attempts.map((attempt) => [attempt.kind, toShown(attempt, cwd), toWhen(attempt)]);
  const isNothing = Object.keys(permissions).length === 0;
  return [
    ...(rows.length === 0 ? [] : [renderTable(["KIND", "TRIED", "SEEN"], rows, terminal)]),
    [...rounds.map((round, index) => toRoundLine(round, index + 1, cwd)), ...notes.map((note) => `Note: ${note}`)]
      .map(toPrintableLine)
      .join("\n"),
    isNothing
      ? `${toPrintableLine(tool)} tried nothing that needs a permission (${watchers[report.watchedBy]})`
      : `# The least that lets ${toPrintableLine(tool)} do what it tried; for kitbag.toml\n${renderToml(permissions)}`,
  ].join("\n\n");
}

const watchers: Record<LearnReport["watchedBy"], string> = {
  strace: "watched by strace",
  hooks: "watched by hooks in its interpreter",
  nothing: "only its connections could be watched; install strace to see more",
};

function toShown({ kind, what, lists }: Attempt, cwd: string): string {
  const text = kind === "read" || kind === "write" ? toShownPath(what, cwd) : what;
  return lists === true ? `${text} (what is in it)` : text;
}

function toWhen({ round }: Attempt): string {
  return round === 0 ? "in the script" : `round ${round}`;
}

function toRoundLine({ read, failure }: LearnReport["rounds"][number], number: number, cwd: string): string {
  const given =
    read.length === 0
      ? "nothing was granted"
      : `it could read ${read.map((path) => toShownPath(path, cwd)).join(", ")}`;
  return `Round ${number}: ${given}; ${failure === undefined ? "it ended well" : `it failed: ${toReason(failure)}`}`;
}

/** The line that says it: programs print it last, hints come after it. */
function toReason(failure: string): string {
  const lines = failure.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("→"));
  return (lines.at(-1) ?? failure).slice(0, 200);
}

/** The permissions as a table of TOML. */
export function renderToml(permissions: Permissions): string {
  const lines = permissionKinds.flatMap((kind) => {
    const list = scopesOf(permissions, kind);
    if (kind === "sockets") return list.map((one) => `${kind} = ${quote(one)}`);
    return list.length === 0 ? [] : [`${kind} = [${list.map(quote).join(", ")}]`];
  });
  return ["[permissions]", ...lines].join("\n");
}

/** A string of TOML: what JSON escapes is escaped, and what a terminal could take for a command. */
function quote(text: string): string {
  return JSON.stringify(text).replaceAll(/[\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return String.raw`\u` + code.toString(16).padStart(4, "0");
  });
}

/** What `--learn` adds to a call. */
export interface Learning {
  readonly options: Pick<RuntimesOptions, "onLearned">;
  /** @throws {KitbagError} `usage-invalid` for a tool that nothing could hold back. */
  check(found: RegisteredTool | undefined): void;
  /** Says what was learned; the call's own answer if nothing was. */
  toAnswer(answer: Answer): Answer;
}

/** Makes what `kitbag call --learn` adds to a call. */
export function createLearning({ cwd, terminal }: Invocation): Learning {
  let report: LearnReport | undefined;
  return {
    options: { onLearned: (learned) => (report = learned) },
    check(found) {
      if (found === undefined || found.tool.code.kind === "script") return;
      throw usageError(
        `Cannot learn what ${found.address} needs: only scripts run where they can be watched, and it is a ${found.tool.code.kind} tool`,
      );
    },
    toAnswer(answer) {
      if (report === undefined) return answer;
      return { document: { ...report, outcome: answer.document }, text: renderLearned(report, cwd, terminal) };
    },
  };
}
