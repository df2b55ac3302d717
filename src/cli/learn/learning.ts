import type { RuntimesOptions } from "../../runtimes/runtimes-options.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import { type Answer, type Invocation, usageError } from "../cli-command.ts";
import { permissionKinds, scopesOf, type Permissions } from "../../core/permissions.ts";
import type { Attempt, LearnReport } from "../../runtimes/learn/learn-report.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import { describeGrant, isEmptyGrant, toGrant, withoutGrant, type SkillGrant } from "../../core/skill-grant.ts";
import { grantTo, toScope } from "../commands/grant.ts";
import { toPrintableLine } from "../printable.ts";
import { renderTable, toShellWord, toShownPath } from "../render.ts";
import { isYes, type Terminal } from "../terminal.ts";

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
      : `# The least that lets ${toPrintableLine(tool)} do what it tried; for the kitbag.toml of a skill of your own\n${renderToml(permissions)}`,
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
  check(found: RegisteredTool | undefined, input: JsonObject | undefined): void;
  /** Says what was learned, and grants it if a person agrees; the call's own answer if nothing was. */
  toAnswer(answer: Answer): Promise<Answer>;
}

/** Makes what `kitbag call --learn` adds to a call. */
export function createLearning(invocation: Invocation): Learning {
  const { cwd, terminal } = invocation;
  let report: LearnReport | undefined;
  let learned: { readonly skill?: string | undefined; readonly named: readonly string[] } = { named: [] };
  return {
    options: { onLearned: (found) => (report = found) },
    check(found, input = {}) {
      if (found === undefined) return;
      if (found.tool.code.kind === "script") {
        const { skill } = found.tool.code as ScriptCode;
        learned = { skill, named: findNamed(input, cwd) };
        return;
      }
      throw usageError(
        `Cannot learn what ${found.address} needs: only scripts run where they can be watched, and it is a ${found.tool.code.kind} tool`,
      );
    },
    async toAnswer(answer) {
      if (report === undefined) return answer;
      const text = renderLearned(report, cwd, terminal);
      const { skill, named } = learned;
      const grant = toGrant((kind) => (kind === "packages" ? [] : scopesOf(report?.permissions ?? {}, kind)));
      // A file that the call names is there in every call that names it.
      const lasting = withoutGrant(grant, { read: named });
      const document = { ...report, outcome: answer.document };
      if (skill === undefined || isEmptyGrant(lasting)) return { document, text };
      return offerLearned({ skill, grant: lasting, document, text }, invocation);
    },
  };
}

/** What the input of a call may name as a file, as permissions would list it: what a person types is there for that call. */
function findNamed(input: JsonObject, cwd: string): string[] {
  const values = Object.values(input).flatMap((value) => [value].flat());
  return values.flatMap((value) => (typeof value === "string" && value !== "" ? [toScope(value, cwd)] : []));
}

interface Offer {
  readonly skill: string;
  readonly grant: SkillGrant;
  readonly document: object;
  readonly text: string;
}

async function offerLearned({ skill, grant, document, text }: Offer, invocation: Invocation): Promise<Answer> {
  const { terminal, options, json } = invocation;
  const flags = grantFlags(grant);
  const command = `kitbag grant ${skill} ${flags.map(toShellWord).join(" ")}`;
  const isAsked = options["yes"] !== true && terminal.canAsk && !json;
  if (isAsked) terminal.note(`${text}\n\n`);
  const isAgreed =
    options["yes"] === true ||
    (isAsked && isYes(await terminal.ask(`Grant ${toPrintableLine(describeGrant(grant))} to ${skill}? [y/N] `)));
  const shown = isAsked ? [] : [text];
  if (!isAgreed) return { document, text: [...shown, toPrintableLine(`Beside the skill: ${command}`)].join("\n\n") };
  const granted = await grantTo(skill, grant, invocation);
  return {
    document: { ...document, granted: granted.document },
    text: [...shown, granted.text ?? ""].join("\n\n"),
  };
}

/** The words of `kitbag grant` that list a grant. */
function grantFlags(grant: SkillGrant): string[] {
  return Object.entries(grant).flatMap(([kind, items]: [string, readonly string[]]) =>
    items.flatMap((item) => [`--${kind}`, item]),
  );
}
