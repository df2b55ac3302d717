import { type CostKind, type CostRow, isPaid } from "./usage-counter.ts";

/** A line of a table of costs: numbers, and how to show them is up to who prints it. */
export interface CostLine {
  readonly kind: CostKind | "total" | "others";
  readonly label: string;
  /** How far it is put in: what belongs to a skill stands below it. */
  readonly depth: number;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly schemaTokens: number;
  readonly resultTokens: number;
  /** In US dollars; `undefined` if it is not known. */
  readonly cost: number | undefined;
  /** Of all tokens, from 0 to 1. */
  readonly share: number;
  /** Whether to show "≈" before its numbers. */
  readonly isEstimate: boolean;
}

/**
 * Makes the lines of a table of costs: the models, sub-agents and paid services, then the total, then what it was spent on, the most first. Tools stand below their
 * skill, whose line is the sum of its own tokens and theirs; tools that were shown and never called are one line.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { createAgent, renderCosts } from "kitbag/agent";
 *
 * const run = createAgent({ model: "local", workspace: createWorkspace() }).run("Hello");
 * await run;
 *
 * const lines = renderCosts(run.breakdown());
 * console.assert(lines.some(({ kind, calls }) => kind === "total" && calls === 1));
 * ```
 */
export function renderCosts(rows: readonly CostRow[]): readonly CostLine[] {
  const paid = rows.filter(isPaid);
  const total = paid.reduce(add, nothing);
  const whole = total.inputTokens + total.outputTokens;
  const lines = (counts: readonly Counted[]): readonly CostLine[] =>
    counts.map((counted) => ({ ...counted, share: whole === 0 ? 0 : sizeOf(counted) / whole }));
  const sum = { ...total, kind: "total", label: "total", depth: 0, isEstimate: false } as const;
  return lines([...paid.map((row) => toCounted(row, 0)), sum, ...divide(rows)]);
}

type Counted = Omit<CostLine, "share">;
type Counts = Pick<CostRow, "calls" | "inputTokens" | "outputTokens" | "schemaTokens" | "resultTokens"> & {
  readonly cost: number | undefined;
};

const nothing: Counts = {
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
  schemaTokens: 0,
  resultTokens: 0,
  cost: 0,
};

function add(sum: Counts, row: Omit<Counts, "cost"> & { readonly cost?: number | undefined }): Counts {
  return {
    calls: sum.calls + row.calls,
    inputTokens: sum.inputTokens + row.inputTokens,
    outputTokens: sum.outputTokens + row.outputTokens,
    schemaTokens: sum.schemaTokens + row.schemaTokens,
    resultTokens: sum.resultTokens + row.resultTokens,
    cost: sum.cost === undefined || row.cost === undefined ? undefined : sum.cost + row.cost,
  };
}

function toCounted({ skill: _skill, name, cost, ...row }: CostRow, depth: number): Counted {
  return { ...row, label: toLabel(row, name), depth, cost };
}

/** A tool may stand there twice: for what its call cost, and for the tokens of the model that calls it. */
function toLabel({ kind }: Pick<CostRow, "kind">, name: string): string {
  if (kind === "agent") return `agent ${name}`;
  return kind === "service" ? `paid by ${name}` : name;
}

function sizeOf({ inputTokens, outputTokens }: Pick<Counts, "inputTokens" | "outputTokens">): number {
  return inputTokens + outputTokens;
}

/** What the tokens were spent on: groups of lines, the largest first, each with its own sum as the first. */
function divide(rows: readonly CostRow[]): readonly Counted[] {
  const uncalled = rows.filter(isUncalled);
  const groups = new Map<string, CostRow[]>();
  for (const row of rows) {
    if (isPaid(row) || isUncalled(row)) continue;
    const key =
      row.kind === "skill"
        ? `skill ${row.name}`
        : row.skill === undefined
          ? `${row.kind} ${row.name}`
          : `skill ${row.skill}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  const made = [...groups.values()].map(toGroup);
  if (uncalled.length > 0) made.push([toOthers(uncalled)]);
  return made.toSorted(([left], [right]) => (right ? sizeOf(right) : 0) - (left ? sizeOf(left) : 0)).flat();
}

function isUncalled({ kind, calls }: CostRow): boolean {
  return kind === "tool" && calls === 0;
}

function toOthers(rows: readonly CostRow[]): Counted {
  const label = rows.length === 1 ? "1 tool that was not called" : `${rows.length} tools that were not called`;
  return { ...rows.reduce(add, nothing), kind: "others", label, depth: 0, isEstimate: true };
}

function toGroup(rows: readonly CostRow[]): readonly Counted[] {
  const [first] = rows;
  const skill = rows.find(({ kind }) => kind === "skill")?.name ?? first?.skill;
  if (skill === undefined) return rows.map((row) => toCounted(row, 0));
  const sum: Counted = { ...rows.reduce(add, nothing), kind: "skill", label: skill, depth: 0, isEstimate: true };
  const tools = rows.filter(({ kind }) => kind === "tool").toSorted((left, right) => sizeOf(right) - sizeOf(left));
  return [sum, ...tools.map((row) => toCounted(row, 1))];
}
