import { toCanonicalJson } from "../../core/canonical-json.ts";
import { checkExamples } from "../../core/check-tool.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import { describeProblem } from "../../core/errors.ts";
import { cloneJson } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Tool, ToolExample } from "../../core/tool.ts";
import type { ManifestTest, SkillManifest } from "../manifests/skill-manifest.ts";

/** Tools with their tests, and what is wrong with tests that cannot be run. */
export interface TestedTools {
  readonly tools: readonly Tool[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Makes the tests of a manifest the examples of the tools that they name, before those that the instructions have. A test of a tool
 * that is not there, or that does not fit its schemas, is left out and says why.
 */
export function addTests(tools: readonly Tool[], { tests = [], file }: SkillManifest): TestedTools {
  if (tests.length === 0) return { tools, diagnostics: [] };
  const diagnostics: Diagnostic[] = [];
  const names = tools.map(({ name }) => name);
  const byTool = new Map<string, ToolExample[]>();
  for (const [index, test] of tests.entries()) {
    const tool = tools.find(({ name }) => name === test.tool);
    const wrong = tool === undefined ? describeUnknown(test, names) : describeWrong(test, tool);
    if (wrong === undefined) byTool.set(test.tool, [...(byTool.get(test.tool) ?? []), toExample(test)]);
    else
      diagnostics.push({
        severity: "warning",
        code: "test-invalid",
        message: `Left out tests[${index}]: ${wrong}`,
        file,
      });
  }
  return { tools: tools.map((tool) => withExamples(tool, byTool.get(tool.name) ?? [])), diagnostics };
}

function describeUnknown({ tool }: ManifestTest, names: readonly string[]): string {
  const [nearest] = nearestNames(tool, names, 1);
  const known = names.length === 0 ? "it has none" : `its tools are ${names.join(", ")}`;
  return `the skill has no tool "${tool}"; ${nearest === undefined ? known : `did you mean "${nearest}"?`}`;
}

function describeWrong(test: ManifestTest, { name, inputSchema, outputSchema }: Tool): string | undefined {
  const problems = checkExamples([toExample(test)], inputSchema, outputSchema);
  if (problems.length === 0) return undefined;
  const [first, ...more] = problems.map((one) =>
    describeProblem({ ...one, path: one.path.replace("examples[0].", "") }),
  );
  return `it does not fit "${name}": ${[first, ...more].join("; ")}`;
}

function toExample({ description, input, output }: ManifestTest): ToolExample {
  const words = description === undefined ? {} : { description };
  return cloneJson({ ...words, input, ...(output !== undefined && { output }) });
}

function withExamples(tool: Tool, tests: readonly ToolExample[]): Tool {
  if (tests.length === 0) return tool;
  const inputs = new Set(tests.map(({ input }) => toCanonicalJson(input)));
  const others = tool.examples.filter(({ input }) => !inputs.has(toCanonicalJson(input)));
  return Object.freeze({ ...tool, examples: Object.freeze([...tests, ...others]) });
}
