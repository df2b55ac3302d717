import type { LearnReport } from "../../runtimes/learn/learn-report.ts";
import type { RuntimesOptions } from "../../runtimes/runtimes-options.ts";
import type { RegisteredTool } from "../../workspace/registered-tool.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { usageError } from "../usage-error.ts";
import { renderLearned } from "./render-learned.ts";

/** A call by which somebody learns what a tool needs. */
export interface Learning {
  readonly options: Pick<RuntimesOptions, "onLearned">;
  /** @throws {KitbagError} `usage-invalid` for a tool that nothing could hold back. */
  check(found: RegisteredTool | undefined): void;
  /** Says what was learned; the call's own answer if nothing was. */
  toAnswer(answer: Answer): Answer;
}

/** Makes what `kitbag call --learn` needs. */
export function createLearning({ cwd, terminal }: Invocation): Learning {
  let report: LearnReport | undefined;
  return {
    options: { onLearned: (learned) => (report = learned) },
    check(found) {
      if (found === undefined || found.tool.code.kind === "script") return;
      throw usageError(
        `Cannot learn what ${found.address} needs: only scripts run where they can be watched, and it is a ${found.tool.code.kind} tool`,
      );
    },
    toAnswer(answer) {
      if (report === undefined) return answer;
      return { document: { ...report, outcome: answer.document }, text: renderLearned(report, cwd, terminal) };
    },
  };
}
