import type { ForgedTool } from "../../forge/forge-interface.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { Invocation } from "../cli-command.ts";
import { describeWaiting } from "../forge/waiting-drafts.ts";
import { forgeOperations } from "../forge/operations.ts";
import { toPrintable } from "../printable.ts";
import { describeUntrusted } from "./load-reports.ts";

/** What is known of the tools of a project when one of them is missing. */
export interface MissingFacts {
  readonly invocation: Invocation;
  readonly reports?: readonly SkillReport[];
  readonly forged?: readonly ForgedTool[];
}

type Reason = (name: string, facts: MissingFacts) => readonly string[] | Promise<readonly string[]>;

/** Why a tool may be missing; each reason that fits is told. */
const reasons: readonly Reason[] = [isOperation, wasMade, isWaiting, mayBeInCode, wasSkipped];

/** Says on standard error why tools that were asked for are not there, as far as that is known. */
export async function noteMissing(names: readonly string[], facts: MissingFacts): Promise<void> {
  const lines = new Set<string>();
  for (const name of names) {
    for (const reason of reasons) for (const line of await reason(name, facts)) lines.add(line);
  }
  for (const line of lines) facts.invocation.terminal.note(`${toPrintable(line)}\n`);
}

/** What MCP clients get as tools is on the command line an operation of `kitbag forge`. */
function isOperation(name: string): readonly string[] {
  const isOne = forgeOperations.some((operation) => operation.name === name);
  return isOne ? [`${name} is an operation of the forge; run: kitbag forge ${name}`] : [];
}

/** A tool that was made in the project, and may not run or cannot be used. */
function wasMade(name: string, { forged = [] }: MissingFacts): readonly string[] {
  const found = forged.find((tool) => tool.name === name.replace(/@.*$/u, "") && tool.status !== "live");
  const diagnostics = found?.diagnostics ?? [];
  return diagnostics.map(({ message, cure }) => (cure === undefined ? message : `${message}. ${cure}`));
}

/** A draft of the tool, or of its skill, that waits for a person to agree. */
function isWaiting(name: string, { invocation }: MissingFacts): Promise<readonly string[]> {
  return describeWaiting(invocation, name);
}

/** Skills whose code is not trusted may have the tool. */
function mayBeInCode(_name: string, { reports = [] }: MissingFacts): readonly string[] {
  return describeUntrusted(reports);
}

/** The skill that was asked for was skipped, or something else is wrong with it: the first problem is told. */
function wasSkipped(address: string, { reports = [] }: MissingFacts): readonly string[] {
  const [owner] = address.split("/", 1);
  return reports.flatMap(({ name, status, path, diagnostics }) => {
    const isSkipped = status === "skipped";
    const wrong = diagnostics.find(({ severity }) => severity === "error") ?? (isSkipped ? diagnostics[0] : undefined);
    if (name !== owner || wrong === undefined) return [];
    const what = isSkipped ? `The skill ${name} was skipped` : `The skill ${name} has something wrong`;
    return [`${what}: ${wrong.message}; for all of it, run: kitbag check ${path}`];
  });
}
