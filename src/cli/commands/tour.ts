import type { CliCommand } from "../cli-command.ts";
import { isSource } from "../own-files.ts";

const inTheRepository = `What to type next, in this folder:
  npx kitbag chat --examples
  npx kitbag doctor
  npx kitbag list skills
  npx kitbag call text-stats/stats-count --file README.md --skills skills
  npx kitbag call count-words --module examples/toolbox.ts --text "to be or not to be" --top 2
  npx kitbag --help

Then write tools of your own: docs/guide/command-line.md shows how.`;

const installed = `What to do next: write a kitbag.config.ts
  import { defineTool } from "kitbag";
  const hello = defineTool({ name: "hello", description: "Says hello", run: () => "Hello!" });
  export default { tools: [hello] };

and type
  kitbag trust .
  kitbag list
  kitbag call hello
  kitbag chat
  kitbag --help`;

/** `kitbag tour`: what Kitbag does, in steps that really run. */
export const tourCommand: CliCommand = {
  examples: [
    ["kitbag tour", "step by step; Enter goes on, q quits"],
    ["kitbag tour | less", "all at once"],
    ["kitbag tour --json", "the code and the real outcomes, as data"],
  ],
  define() {},
  async run(invocation) {
    const { terminal, json } = invocation;
    const [{ tourSteps }, { openTourKit, runTour }] = await Promise.all([
      import("../tour/steps.ts"),
      import("../tour/run-tour.ts"),
    ]);
    const kit = openTourKit(invocation);
    try {
      const steps = await runTour(tourSteps, kit, terminal, { quiet: json });
      return { document: { steps }, text: isSource ? inTheRepository : installed };
    } finally {
      kit.close();
    }
  },
};
