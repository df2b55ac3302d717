import type { Answer } from "./measure.ts";

/** What `results.json` holds. */
export interface Results {
  readonly node: string;
  readonly cores: number;
  /** By name of the question's file. */
  readonly answers: Readonly<Record<string, Answer>>;
}

/** Writes an answer as Markdown: it reads well in a terminal, too. */
export function renderAnswer(name: string, answer: Answer): string {
  const [first] = answer.contenders;
  const rows = answer.contenders.map(({ name: contender, median, middleHalf }) => [
    contender,
    show(median),
    middleHalf.map(show).join(" – "),
    first === undefined ? "" : `${show(Number((median / first.median).toPrecision(3)))} ×`,
  ]);
  const targets = answer.targets.map(({ text, unit, limit, value, met }) => [
    text,
    `≤ ${show(limit)} ${unit}`,
    `${show(value)} ${unit}`,
    met ? "met" : "**missed**",
  ]);
  return [
    `### ${answer.title} (\`${name}.ts\`)`,
    `${answer.text} ${answer.rounds} rounds.`,
    renderTable(["", answer.unit, "middle half", "to the first"], rows),
    ...(targets.length > 0 ? [renderTable(["target", "", "found", ""], targets)] : []),
  ].join("\n\n");
}

/** Puts the answers in the place of those that `readme` has. */
export function renderReadme(readme: string, { node, cores, answers }: Results): string {
  const sections = Object.keys(answers)
    .toSorted()
    .flatMap((name) => {
      const answer = answers[name];
      return answer === undefined ? [] : [renderAnswer(name, answer)];
    });
  const content = [`Node ${node}, ${cores} cores.`, ...sections].join("\n\n");
  return readme.replace(/(<!-- results -->\n).*(<!-- end -->)/su, (_, begin, end) => `${begin}\n${content}\n\n${end}`);
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[], fill: string): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(" | ")} |`;
  return [
    line(head, " "),
    line(
      head.map(() => ""),
      "-",
    ),
    ...rows.map((row) => line(row, " ")),
  ].join("\n");
}

function show(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}
