import type { ImportOptions, ImportReport } from "../../forge/import/import-skills.ts";
import type { Invocation } from "../cli-command.ts";
import { isYes } from "../config/require-trust.ts";
import { renderReport } from "./render-report.ts";

/** Who says whether something is enabled: the person who is shown it; `--yes` for a script; nobody with `--disabled`. */
export function approveImport({ terminal, options }: Invocation): Pick<ImportOptions, "approve"> {
  if (options["disabled"] === true) return {};
  return {
    async approve(report: ImportReport) {
      if (options["yes"] === true) return true;
      terminal.note(`${renderReport(report, terminal)}\n\n`);
      if (!terminal.canAsk) return false;
      const names = report.skills.map(({ name }) => name).join(", ");
      return isYes(await terminal.ask(`Enable ${names}, exactly as shown here? [y/N] `));
    },
  };
}

/** What to do when nothing was enabled. */
export function whyRefused({ terminal }: Pick<Invocation, "terminal">): string {
  if (terminal.canAsk) return "Not enabled, and nothing was kept.";
  return "Not enabled, and nothing was kept: nobody is there to be asked. Read what is shown, then add --yes; or --disabled to have a look at the files";
}
