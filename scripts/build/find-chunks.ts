import { join } from "node:path";

import { rolldown } from "rolldown";

import { withoutValidator } from "./without-validator.ts";

/** What is loaded with an entry, or together on the way of a command. */
const loads = {
  core: ["src/index.ts"],
  agent: ["src/agent.ts"],
  skills: ["src/skills.ts"],
  store: ["src/store.ts"],
  testing: ["src/testing/index.ts"],
  mcp: ["src/mcp/index.ts"],
  command: ["src/cli/run-program.ts"],
  project: ["src/cli/open-project.ts"],
  commands: ["call", "check", "list", "run", "search", "show", "stats", "test"].map(
    (name) => `src/cli/commands/${name}.ts`,
  ),
  records: [
    "src/cli/store/open-records.ts",
    "src/cli/sandbox/open-cli-runtimes.ts",
    "src/store/sqlite/sqlite-store.ts",
    "src/records/audit/open-audit.ts",
  ],
  serve: [
    "src/cli/commands/serve.ts",
    "src/cli/serve/open-served.ts",
    "src/cli/serve/serve-stdio.ts",
    "src/forge/open-forge.ts",
    "src/forge/import/create-import-tool.ts",
    "src/forge/tools/create-forge-tools.ts",
    "src/forge/workflow/create-workflow-tools.ts",
    "src/mcp/server/calls/client-writer.ts",
  ],
} satisfies Readonly<Record<string, readonly string[]>>;

type Load = keyof typeof loads;

/**
 * The chunks, and who must all load a module for it to be there; the first that fits is taken, so chunks only import those of rows
 * above. The more entries there are, the more small chunks they would share, and each takes Node about a millisecond. Of a large one,
 * who needs a part loads all: so it is cut where those who need it part.
 */
const chunks: readonly (readonly [name: string, loads: readonly Load[]])[] = [
  ["basis", ["core", "command"]],
  ["basis", ["core", "testing"]],
  ["common", ["core", "store"]],
  ["common", ["core", "records"]],
  ["core", ["core"]],
  ["command", ["command"]],
  ["kept", ["agent", "commands"]],
  ["kept", ["agent", "testing"]],
  ["kept", ["mcp", "commands"]],
  ["kept", ["mcp", "store"]],
  ["kept", ["records", "agent"]],
  ["kept", ["records", "testing"]],
  ["files", ["records", "project"]],
  ["files", ["records", "skills"]],
  ["runs", ["agent", "store"]],
  ["dispatch", ["agent", "mcp"]],
  ["sqlite", ["records", "store"]],
  ["records", ["records"]],
  ["project", ["project"]],
  ["skills", ["skills"]],
  ["pieces", ["serve", "commands"]],
  ["agent", ["agent"]],
  ["mcp", ["mcp"]],
  ["serve", ["serve"]],
];

/** The chunk of each module that one of `loads` needs. What the entries import is in them, they themselves are not. */
export async function findChunks(
  root: string,
  { entries, external }: { readonly entries: readonly string[]; readonly external: readonly RegExp[] },
): Promise<ReadonlyMap<string, string>> {
  const toId = (file: string): string => join(root, file);
  const importsOf = await findImports(root, external);
  const reached = new Map(
    Object.entries(loads).map(([name, files]) => [name, findReached(files.map(toId), importsOf)] as const),
  );
  const fixed = new Set(entries.map(toId));
  const found = [...importsOf.keys()].flatMap((id) => {
    const chunk = fixed.has(id)
      ? undefined
      : chunks.find(([, names]) => names.every((name) => reached.get(name)?.has(id)));
    return chunk === undefined ? [] : [[id, chunk[0]] as const];
  });
  return new Map(found);
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
