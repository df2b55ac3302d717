import type { SkillReport, ToolReport } from "../../skills/load/skill-report.ts";
import type { ScriptInterface } from "../../skills/scripts/script-interface.ts";
import type { Fact } from "../render-facts.ts";

/** What is known about a skill's tool beyond the tool itself. */
export interface ToolOrigin {
  readonly report: ToolReport;
  /** The script behind it; none for a pipeline or a WASM module. */
  readonly script?: ScriptInterface;
}

/** Finds where a skill's tool comes from; nothing for a tool that is of no folder. */
export function findOrigin(reports: readonly SkillReport[], address: string): ToolOrigin | undefined {
  const skill = reports.find(
    (candidate) => candidate.skill !== undefined && candidate.tools.some((tool) => tool.address === address),
  );
  const report = skill?.tools.find((tool) => tool.address === address);
  if (skill === undefined || report === undefined) return undefined;
  const script = skill.scripts.find(({ path }) => path === report.file);
  return { report, ...(script !== undefined && { script }) };
}

const meanings = {
  declared: "the script or its author declares it",
  usage: "read from a usage text or from the code; check it",
  opaque: "unknown: it takes a list of words",
} as const;

/** The facts about where a tool comes from. */
export function describeOrigin({ report, script }: ToolOrigin): Fact[] {
  return [
    ["script", report.file ?? ""],
    ["runs with", script?.interpreter.join(" ") ?? ""],
    ["confidence", `${report.confidence} (${report.source}): ${meanings[report.confidence]}`],
    ...(script === undefined ? [] : describeScript(script)),
  ];
}

/** What a script reads, needs and seems to touch. */
function describeScript({ environment, imports, access }: ScriptInterface): Fact[] {
  return [
    ["environment", environment.map(({ name, required }) => (required ? `${name} (required)` : name)).join(", ")],
    ["packages", imports.map(({ name, declaredIn = "not declared" }) => `${name} (${declaredIn})`).join(", ")],
    ["network", [...access.network, ...access.hosts].join(", ")],
    ["programs", access.programs.join(", ")],
  ];
}
