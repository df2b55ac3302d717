import type { Command } from "commander";

import type { CliCommand } from "./cli-command.ts";

/** A command as the overview knows it, before its file is loaded. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** With `--json` it prints one event a line: a failure is one line, too. @default false */
  readonly printsLines?: boolean;
  /** It reads skills and calls no tool, so that its process can do without optimised WASM. @default false */
  readonly onlyReads?: boolean;
  load(): Promise<CliCommand>;
}

/** Every command there is, in the order of the overview. */
export const commands: readonly CommandEntry[] = [
  {
    name: "chat",
    summary: "Talk with an agent that has the tools and skills of this project",
    printsLines: true,
    load: async () => (await import("./commands/chat.ts")).chatCommand,
  },
  {
    name: "run",
    summary: "Have an agent do a task",
    printsLines: true,
    load: async () => (await import("./commands/run.ts")).runCommand,
  },
  {
    name: "runs",
    summary: "See what agents did, go on with it, replay it, change it",
    printsLines: true,
    load: async () => (await import("./commands/runs.ts")).runsCommand,
  },
  {
    name: "memory",
    summary: "See, search, forget and export what is remembered across conversations",
    load: async () => (await import("./commands/memory.ts")).memoryCommand,
  },
  {
    name: "approvals",
    summary: "Approve or deny calls of agents that wait for approval",
    load: async () => (await import("./commands/approvals.ts")).approvalsCommand,
  },
  {
    name: "serve",
    summary: "Serve the tools and skills to MCP clients, on stdio or over HTTP",
    load: async () => (await import("./commands/serve.ts")).serveCommand,
  },
  {
    name: "connect",
    summary: "Write Kitbag into the configuration of an MCP client, or take it out",
    load: async () => (await import("./commands/connect.ts")).connectCommand,
  },
  {
    name: "token",
    summary: "Make, list and revoke the tokens of kitbag serve --http",
    load: async () => (await import("./commands/token.ts")).tokenCommand,
  },
  {
    name: "quota",
    summary: "See and set how much each user may use: calls, model tokens, dollars, bytes, drafts",
    load: async () => (await import("./commands/quota.ts")).quotaCommand,
  },
  {
    name: "tour",
    summary: "See what Kitbag does: small steps that really run",
    load: async () => (await import("./commands/tour.ts")).tourCommand,
  },
  {
    name: "list",
    summary: "List the tools and the skills",
    onlyReads: true,
    load: async () => (await import("./commands/list.ts")).listCommand,
  },
  {
    name: "show",
    summary: "Show everything about one tool or skill, and how to use it",
    onlyReads: true,
    load: async () => (await import("./commands/show.ts")).showCommand,
  },
  {
    name: "search",
    summary: "Find skills and tools by what they do",
    onlyReads: true,
    load: async () => (await import("./commands/search.ts")).searchCommand,
  },
  {
    name: "call",
    summary: "Call a tool, with its parameters as flags or as JSON",
    load: async () => (await import("./commands/call.ts")).callCommand,
  },
  {
    name: "check",
    summary: "Check skills: what is wrong, where, and what to do",
    onlyReads: true,
    load: async () => (await import("./commands/check.ts")).checkCommand,
  },
  {
    name: "test",
    summary: "Run the examples of tools, and try inputs made from their schemas",
    load: async () => (await import("./commands/test.ts")).testCommand,
  },
  {
    name: "init",
    summary: "Start a project: a tool, a skill, a test and a configuration",
    load: async () => (await import("./commands/init.ts")).initCommand,
  },
  {
    name: "new",
    summary: "Start a skill, a plugin or a tool from a template",
    load: async () => (await import("./commands/new.ts")).newCommand,
  },
  {
    name: "dev",
    summary: "Check, test and trust a skill while you edit it",
    printsLines: true,
    load: async () => (await import("./commands/dev.ts")).devCommand,
  },
  {
    name: "forge",
    summary: "Make, change, test and delete tools and skills, as MCP clients do",
    load: async () => (await import("./commands/forge.ts")).forgeCommand,
  },
  {
    name: "add",
    summary: "Add skills of others: from a repository, an archive, a package, a marketplace",
    onlyReads: true,
    load: async () => (await import("./commands/add.ts")).addCommand,
  },
  {
    name: "update",
    summary: "Fetch the skills again that were added, and see what changed",
    onlyReads: true,
    load: async () => (await import("./commands/update.ts")).updateCommand,
  },
  {
    name: "remove",
    summary: "Take a skill or a tool out of the project; it can be put back",
    load: async () => (await import("./commands/remove.ts")).removeCommand,
  },
  {
    name: "freeze",
    summary: "Write the parameters that were read from a skill's scripts into its manifest",
    onlyReads: true,
    load: async () => (await import("./commands/freeze.ts")).freezeCommand,
  },
  {
    name: "build",
    summary: "Build the WASM modules of skills from their sources",
    load: async () => (await import("./commands/build.ts")).buildCommand,
  },
  {
    name: "trust",
    summary: "Let a configuration, or skills of a project, run as they are now",
    onlyReads: true,
    load: async () => (await import("./commands/trust.ts")).trustCommand,
  },
  {
    name: "grant",
    summary: "Grant a skill more than its own files ask for: paths, hosts, variables, programs, packages",
    onlyReads: true,
    load: async () => (await import("./commands/grant.ts")).grantCommand,
  },
  {
    name: "revoke",
    summary: "Take back what was granted to a skill",
    load: async () => (await import("./commands/grant.ts")).revokeCommand,
  },
  {
    name: "store",
    summary: "Check, repair, back up, export, import and clean up what is kept",
    load: async () => (await import("./commands/store.ts")).storeCommand,
  },
  {
    name: "audit",
    summary: "Prove that no record of a call was changed, and read them",
    load: async () => (await import("./commands/audit.ts")).auditCommand,
  },
  {
    name: "dead",
    summary: "See the calls that failed, and make them again",
    load: async () => (await import("./commands/dead.ts")).deadCommand,
  },
  {
    name: "versions",
    summary: "List the versions of a tool or a skill, and compare them",
    load: async () => (await import("./commands/versions.ts")).versionsCommand,
  },
  {
    name: "rollback",
    summary: "Make an earlier version of a tool or a skill live again",
    load: async () => (await import("./commands/rollback.ts")).rollbackCommand,
  },
  {
    name: "stats",
    summary: "See how often tools are called, fail and wait, and how long they take",
    load: async () => (await import("./commands/stats.ts")).statsCommand,
  },
  {
    name: "doctor",
    summary: "Check this machine and this project",
    load: async () => (await import("./commands/doctor.ts")).doctorCommand,
  },
  {
    name: "completion",
    summary: "Complete command lines in bash, zsh or fish",
    load: async () => (await import("./commands/completion.ts")).completionCommand,
  },
];

/** Makes what reads the words of a command, with the options that all commands have. */
export async function createParser({ name, summary }: CommandEntry, command: CliCommand): Promise<Command> {
  const { Command } = await import("commander");
  const parser = new Command(`kitbag ${name}`);
  parser
    .description(summary)
    .option("--json", `print ${command.json ?? "one JSON document"} and nothing else`)
    .option("--log <level>", "log calls on standard error: debug, info, warn, error or off, which it is unless set")
    .helpOption("-h, --help", "show this help")
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} });
  command.define(parser);
  return parser;
}
