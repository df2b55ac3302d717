import { addAgentOptions, readAgentOptions } from "../agent/agent-options.ts";
import type { CliCommand, Invocation } from "../cli-command.ts";
import { addOption } from "../options.ts";
import { exampleSkills, isSource } from "../own-files.ts";
import type { ChatKind } from "../agent/chat/run-chat.ts";

const inTheRepository = `That was a conversation of three requests, with the offline model and the skills in skills/.
In a terminal you can talk yourself:
  npm start
  npx kitbag chat --skills skills
  npx kitbag run "How many words does README.md have?" --skills skills
  npx kitbag tour`;

const installed = `That was a conversation of three requests, with the offline model and the skills that come with Kitbag.
In a terminal you can talk yourself:
  kitbag chat --examples
  kitbag tour`;

/** `kitbag chat`: a conversation with an agent. */
export const chatCommand: CliCommand = {
  examples: [
    ["kitbag chat --skills skills", "the offline model, and the skills in a folder"],
    ["kitbag chat --model anthropic/claude-sonnet-5", "another model; its key is in ANTHROPIC_API_KEY"],
    ["kitbag chat --conversation report", "saved under this name; the same words go on with it tomorrow"],
    [`echo "How many words does README.md have?" | kitbag chat --skills skills`, "each line is a request"],
    ["kitbag chat --examples", "with the skills that come with Kitbag, and requests to try"],
  ],
  json: "one event a line, as JSON,",
  define(command) {
    addOption(command, "--conversation <id>", "save the conversation under this name, or go on with it");
    command.option(
      "--examples",
      "with the skills that come with Kitbag; without a keyboard, a short conversation by itself",
    );
    command.option("--no-memory", "remember nothing across conversations, and recall nothing");
    addAgentOptions(command);
  },
  async run(invocation) {
    const { limits, exposure } = readAgentOptions(invocation);
    const kind = chooseKind(invocation);
    const { runChat } = await import("../agent/chat/run-chat.ts");
    const { openAgent } = await import("../agent/open-agent.ts");
    const wanted = {
      limits,
      warm: kind !== "lines",
      remembers: invocation.options["memory"] !== false,
      directories: invocation.options["examples"] === true ? [exampleSkills] : [],
      ...(exposure !== undefined && { exposure }),
    };
    const open = await openAgent(invocation, wanted);
    try {
      const answer = await runChat(invocation, open, kind);
      return kind === "show" && !invocation.json
        ? { ...answer, text: `\n${isSource ? inTheRepository : installed}` }
        : answer;
    } finally {
      await open.close();
    }
  },
};

function chooseKind({ terminal, json, options }: Invocation): ChatKind {
  if (terminal.canAsk && !json) return "person";
  return options["examples"] === true ? "show" : "lines";
}
