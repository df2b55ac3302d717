import { breakpointForms } from "../agent/debug/parse-breakpoints.ts";
import { addAgentOptions } from "../agent/agent-options.ts";
import { type CliCommand, runAction, type Action } from "../cli-command.ts";
import { addListOption, addOption } from "../options.ts";

/** `kitbag runs`: what agents did, and how to go on with it. */
export const runsCommand: CliCommand = {
  examples: [
    ["kitbag runs", "the runs of agents, the newest first"],
    ["kitbag runs show 3f2a91bc", "what happened, step by step; the beginning of an id is enough"],
    [
      "kitbag runs resume 3f2a91bc",
      "go on with a run that was killed, stopped or paused; nothing that was done is done again",
    ],
    ["kitbag runs replay 3f2a91bc", "would it be the same now? Neither a model nor a tool is asked"],
    [`kitbag runs fork 3f2a91bc --step 2 --say "Use the other file"`, "go another way from the middle"],
    ["kitbag runs fork 3f2a91bc --step 0 --model ollama/qwen3", "the same task, another model"],
    ["kitbag runs debug 3f2a91bc", "go through it step by step; change arguments or results, and see what follows"],
  ],
  json: "one JSON document (resume and fork: one event a line)",
  define(command) {
    command.argument("[action]", "list, show, resume, replay, fork or debug; list unless given");
    command.argument("[id]", "the run, as the list has it");
    addOption(command, "--limit <n>", "list: so many, at most; 20 unless set");
    addOption(command, "--step <n>", "fork: the last step that stays as it was; 0 is before the first");
    addOption(command, "--say <text>", "fork: say this to the model before it goes on");
    addListOption(command, "--break <place>", `debug: stop only at ${breakpointForms}; may be given again`);
    addAgentOptions(command);
  },
  run: (invocation) => runAction("runs", actions, invocation, "list"),
};

/** Each is loaded when it is used: to list runs, no agent is needed. */
const actions: Readonly<Record<string, Action>> = {
  list: {
    words: [0, 0],
    run: async (invocation) => (await import("../agent/runs/show-run-command.ts")).listRuns(invocation),
  },
  show: {
    words: [1, 1],
    run: async (invocation) => (await import("../agent/runs/show-run-command.ts")).showRun(invocation),
  },
  resume: {
    words: [1, 1],
    run: async (invocation) => (await import("../agent/runs/open-run.ts")).resumeRun(invocation),
  },
  replay: {
    words: [1, 1],
    run: async (invocation) => (await import("../agent/runs/open-run.ts")).replayRun(invocation),
  },
  fork: {
    words: [1, 1],
    run: async (invocation) => (await import("../agent/runs/open-run.ts")).forkRun(invocation),
  },
  debug: {
    words: [1, 1],
    run: async (invocation) => (await import("../agent/runs/debug-run.ts")).debugRun(invocation),
  },
};
