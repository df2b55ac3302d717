/**
 * Scripts as people publish them, added as a person adds them who agrees once (`kitbag add <folder> --yes`, `kitbag call …`), beside what
 * they do by themselves. With `KITBAG_WRITE_TABLE=1` the results are written to `docs/real-scripts.md`.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";

import { expect, test } from "vitest";

import { needProgram } from "../support/need-program.ts";
import { type CaseResult, loadCases, type RealCase, runSkill } from "./run-case.ts";

test("kitbag call gives what a downloaded script gives by itself", async (context) => {
  needProgram(context, "python3");
  const cases = loadCases().filter(({ needs = [] }) => needs.every(hasProgram));

  const results = await runCases(cases);

  if (process.env["KITBAG_WRITE_TABLE"] === "1") writeTable(results);
  const lost = results.filter(({ verdict }) => verdict === "lost");
  const works = results.filter(({ verdict }) => verdict === "works");
  expect(lost.map(describeResult)).toEqual([]);
  expect(works.length / results.length, results.map(describeResult).join("\n")).toBeGreaterThanOrEqual(0.9);
}, 400_000);

function hasProgram(name: string): boolean {
  return process.env["KITBAG_REQUIRE_ALL"] === "1" || spawnSync(name, ["--version"]).status === 0;
}

/** Two skills at once: the calls of one project follow one another. */
async function runCases(cases: readonly RealCase[]): Promise<CaseResult[]> {
  const waiting = [...Map.groupBy(cases, ({ skill }) => skill)];
  const results: CaseResult[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) results.push(...(await runSkill(...next)));
  };
  await Promise.all([work(), work()]);
  return cases.flatMap((each) => results.find((result) => result.case === each) ?? []);
}

function describeResult({ case: { skill, script, style }, verdict, why = "" }: CaseResult): string {
  return `${verdict.padEnd(5)} ${skill}/${script} (${style}) ${why.slice(0, 400)}`;
}

function writeTable(results: readonly CaseResult[]): void {
  const count = (wanted: string): number => results.filter(({ verdict }) => verdict === wanted).length;
  const rows = results.map(({ case: { skill, script, style }, verdict, why = "" }) => {
    const [reason = ""] = why.replaceAll("|", "/").split("\n");
    return `| ${skill} | \`${script}\` | ${style} | ${verdict} ${reason.slice(0, 120)} |`.replace("  |", " |");
  });
  const text = `# Scripts as downloaded

The test in \`test/real-scripts/\` writes this page. It runs each script twice with the same files: by itself, and as a user who has just
downloaded the skill: \`kitbag add <folder> --yes\`, then \`kitbag call\`. The skills have no \`kitbag.toml\`. A script *works* if both give the
same end, result and files; it *fails* if the call says that it failed; it is *lost* if the call ends well and the result or a file is
missing. A file that the call only keeps under a handle, and says so, is not missing.

${count("works")} of ${results.length} work, ${count("fails")} fail, ${count("lost")} are lost.

| skill | script | style | result |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
  writeFileSync(resolve(import.meta.dirname, "../../docs/real-scripts.md"), text);
}
