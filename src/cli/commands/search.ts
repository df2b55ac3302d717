import type { FoundItem } from "../../workspace/skills/search-workspace.ts";
import { type CliCommand, type Invocation, usageError } from "../cli-command.ts";
import { addModuleOption, addOption, addSkillsOption, getText, readLimit } from "../options.ts";
import { toPrintableLine } from "../printable.ts";
import { renderTable } from "../render.ts";
import { openTools } from "../open-project.ts";

/** `kitbag search`: skills and tools by words. */
export const searchCommand: CliCommand = {
  examples: [
    ["kitbag search extract text from a pdf", "what could do this? the best match first"],
    ["kitbag search csv --kind tool --limit 3", "only tools, at most three"],
    ["kitbag search csv --json | jq -r '.results[].address'", "for programs"],
  ],
  define(command) {
    command.argument("<words...>", "what it does, in your own words");
    addOption(command, "--kind <kind>", "only skills, or only tools: skill or tool");
    addOption(command, "--limit <n>", "how many to show, at most; 20 unless set");
    addModuleOption(command);
    addSkillsOption(command);
  },
  async run(invocation) {
    const { args, options } = invocation;
    const kind = readKind(getText(options, "kind"));
    const limit = readLimit(getText(options, "limit"));
    const query = args.join(" ");
    const { workspace } = await openTools(invocation, { offersShipped: true });
    const results = workspace.search(query, { limit, ...(kind !== undefined && { kind }) });
    return { document: { query, results }, text: render(query, results, invocation) };
  },
};

function readKind(text: string | undefined): "skill" | "tool" | undefined {
  if (text === undefined || text === "skill" || text === "tool") return text;
  throw usageError(`Cannot use --kind ${text}: expected skill or tool`);
}

function render(query: string, results: readonly FoundItem[], { terminal }: Invocation): string {
  if (results.length === 0) return `Nothing matches ${toPrintableLine(JSON.stringify(query))}.`;
  const best = results[0]?.score ?? 1;
  const rows = results.map(({ kind, address, available, score, description }) => [
    renderBar(score / best),
    kind,
    address,
    available ? "open" : "closed",
    description,
  ]);
  return renderTable(["MATCH", "KIND", "ADDRESS", "STATE", "DESCRIPTION"], rows, terminal);
}

const barLength = 8;

/** A bar for a share between 0 and 1; the best match fills it. */
function renderBar(share: number): string {
  const full = Math.max(1, Math.round(share * barLength));
  return "█".repeat(full) + "░".repeat(barLength - full);
}
