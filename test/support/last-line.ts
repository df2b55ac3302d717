import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Ends a run of tests with one line: how many passed, failed and were not run, and why those were not. */
export class LastLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    // With --retry, as in CI: a test that passes only now and then is named, so that it is mended.
    const flaky = tests.filter((test) => test.diagnostic()?.flaky === true);
    if (flaky.length > 0) console.log("Passed only when they were run again:");
    for (const test of flaky) console.log(`  ${test.module.relativeModuleId} > ${test.fullName}`);
    console.log(toLastLine(tests.map(toFact)));
  }
}

/** What became of one test. */
export interface TestFact {
  readonly state: ReturnType<TestCase["result"]>["state"];
  /** Why it was not run. */
  readonly note?: string | undefined;
}

function toFact(test: TestCase): TestFact {
  const result = test.result();
  return { state: result.state, note: result.state === "skipped" ? result.note : undefined };
}

/** `15,654 passed, 0 failed, 924 not run: no bwrap (900), no debugpy (24)`. */
export function toLastLine(facts: readonly TestFact[]): string {
  const count = (state: TestFact["state"]): number => facts.filter((fact) => fact.state === state).length;
  const notRun = facts.filter(({ state }) => state === "skipped" || state === "pending");
  const counts = `${show(count("passed"))} passed, ${show(count("failed"))} failed`;
  if (notRun.length === 0) return counts;
  const reasons = Object.entries(Object.groupBy(notRun, ({ note }) => toReason(note)))
    .map(([reason, tests = []]) => ({ reason, tests: tests.length }))
    .toSorted((one, other) => other.tests - one.tests || one.reason.localeCompare(other.reason))
    .map(({ reason, tests }) => `${reason} (${show(tests)})`);
  return `${counts}, ${show(notRun.length)} not run: ${reasons.join(", ")}`;
}

function toReason(note: string | undefined): string {
  if (note === undefined) return "not chosen";
  return note.replace(/^(?:there is )?(?:no )?(?:\S*\/)?(.+?) is (?:not )?on this machine$/u, "no $1");
}

function show(count: number): string {
  return count.toLocaleString("en");
}
