import { join } from "node:path";

import { rolldown } from "rolldown";

import { withoutValidator } from "./without-validator.ts";

/** What a call of a tool of a skill loads, also on the way. */
const call = [
  "src/cli/run-program.ts",
  "src/cli/commands/call.ts",
  "src/cli/store/identify-store.ts",
  "src/records/audit/open-audit.ts",
  "src/runtimes/start-runtimes.ts",
  "src/store/sqlite/peek-sqlite.ts",
  "src/store/sqlite/sqlite-store.ts",
  "src/workspace/create-workspace.ts",
  "src/workspace/skills/folder-skills.ts",
];

/** What is loaded with an entry, or together on the way of a command. */
const loads: Readonly<Record<string, readonly string[]>> = {
  core: ["src/index.ts"],
  agent: ["src/agent.ts"],
  forge: ["src/forge.ts"],
  models: ["src/models.ts"],
  runtimes: ["src/runtimes.ts"],
  skills: ["src/skills.ts"],
  store: ["src/store.ts"],
  testing: ["src/testing/index.ts"],
  mcp: ["src/mcp/index.ts"],
  http: ["src/http/index.ts"],
  client: ["src/http/client.ts"],
  adapters: ["ai-sdk", "langchain", "mastra", "openai-agents"].map((name) => `src/adapters/${name}.ts`),
  command: ["src/cli/run-program.ts"],
  call,
  run: [...call, "src/cli/commands/run.ts", "src/agent/create-agent.ts", "src/models/resolve/resolve-model.ts"],
  serve: [
    ...call,
    "src/cli/commands/serve.ts",
    "src/cli/serve/open-served.ts",
    "src/cli/serve/serve-stdio.ts",
    "src/forge/open-forge.ts",
    "src/forge/import/create-import-tool.ts",
    "src/forge/tools/create-forge-tools.ts",
    "src/forge/workflow/create-workflow-tools.ts",
    "src/mcp/server/calls/client-writer.ts",
  ],
};

/**
 * The chunk of each module that one of `loads` needs: modules that the same loads need are one chunk, so none of them loads what it does
 * not need. What the entries import is in chunks, they themselves are not.
 */
export async function findChunks(
  root: string,
  { entries, external }: { readonly entries: readonly string[]; readonly external: readonly RegExp[] },
): Promise<ReadonlyMap<string, string>> {
  const toId = (file: string): string => join(root, file);
  const importsOf = await findImports(root, external);
  const reached = Object.entries(loads).map(
    ([name, files]) => [name, findReached(files.map(toId), importsOf)] as const,
  );
  const fixed = new Set(entries.map(toId));
  const needed = [...importsOf.keys()].flatMap((id) => {
    const names = reached.flatMap(([name, ids]) => (ids.has(id) ? [name] : []));
    return fixed.has(id) || names.length === 0 ? [] : [{ id, names }];
  });
  const groups = [...new Set(needed.map(({ names }) => names.join()))].toSorted();
  const toName = (names: readonly string[]): string =>
    names.length === 1 ? (names[0] as string) : `shared-${groups.indexOf(names.join()) + 1}`;
  return new Map(needed.map(({ id, names }) => [id, toName(names)]));
}

/** What each module imports at once, of all that `loads` need. */
async function findImports(root: string, external: readonly RegExp[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const importsOf = new Map<string, readonly string[]>();
  const build = await rolldown({
    cwd: root,
    input: Object.values(loads).flat(),
    platform: "node",
    external: [...external],
    logLevel: "silent",
    plugins: [
      withoutValidator,
      { name: "imports", moduleParsed: ({ id, importedIds }) => void importsOf.set(id, importedIds) },
    ],
  });
  await build.generate({ format: "esm" });
  await build.close();
  return importsOf;
}

/** The modules that are loaded with `ids`, without those that are loaded when they are needed. */
function findReached(ids: readonly string[], importsOf: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set(ids);
  // A set that grows while it is gone through is gone through to its new end.
  for (const id of reached) for (const imported of importsOf.get(id) ?? []) reached.add(imported);
  return reached;
}
