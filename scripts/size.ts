/**
 * How large the source is: `npm run size` prints a table, with what is aimed at. It runs two commands and counts the modules that they load.
 * `npm run size -- --check` runs nothing, and ends with 1 if there are too many small files that one file imports, too many words that name no
 * one in particular, a second copy of a helper of the floor, or a second function that builds the result of `tools/call`.
 */
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { parseAst } from "rolldown/parseAst";

const root = resolve(import.meta.dirname, "..");
type Program = ReturnType<typeof parseAst>;

const { values: options } = parseArgs({ options: { check: { type: "boolean", default: false } } });

/** A row of the table. What is `limited` fails the check when it is above `most`. */
interface Row {
  readonly name: string;
  readonly count: number;
  readonly most: number;
  readonly limited?: boolean;
  /** Where to look. */
  readonly places?: readonly string[];
}

interface Source {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly program: Program;
  /** The files of `src` that it imports, types included. */
  readonly imports: readonly string[];
}

/** Folders whose files are the rows of a table: each stays a file, however small. */
const tables = [
  /^src\/cli\/(?:commands|templates)\//u,
  /^src\/workspace\/call\//u,
  /^src\/sandbox\/backends\//u,
  /^src\/forge\/templates\//u,
  /^src\/packages\/build\/compilers\//u,
  /\/inside\//u,
  /\/index\.ts$/u,
];

/** Helpers of which there is one. A function of such a name outside the floor is a second copy. */
const helpers =
  /^(?:isRecord|isObject|cutText|splitLines|withFileLock|takeFileLock|writeAtomically|writeFileAtomic|replaceFile|createMutex|createSemaphore|createTurns|createHeap|machineClock|fakeClock|kitbagHome)$/u;

/** Of each mechanism there is one: how its implementation is told, by its name or by what only it does. */
const mechanisms: readonly (readonly [name: string, sign: RegExp])[] = [
  ["lock between processes", /process\.kill\([^()]*, 0\)/gu],
  ["lease", /class \w*Lease\b/gu],
  ["semaphore", /(?:function create|class )\w*Semaphore\b/gu],
  ["clock", /: Clock = \{/gu],
  ["line splitter", /function create\w*LineSplitter\b|\.split\("\\n"\);\n[^\n]*\.pop\(\)/gu],
  ["atomic write", /function \w*write\w*Atomic\w*/giu],
];

const vagueWords = /\b(?:somebody|nobody|someone|no one|whoever|anybody|(?:is|are) none)\b/giu;

const sources = readSources();
const rows = [...measureSource(), ...(options.check ? [] : measureRuns())];
print();

function readSources(): readonly Source[] {
  const paths = globSync("src/**/*.ts", { cwd: root }).filter((path) => !path.endsWith(".test.ts"));
  return paths.map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    const program = parseAst(text, { lang: "ts" }, path);
    const named = [
      ...program.body.flatMap((statement) =>
        "source" in statement && statement.source ? [statement.source.value] : [],
      ),
      ...[...text.matchAll(/import\("(\.[^"]+)"\)/gu)].flatMap((match) => match[1] ?? []),
    ];
    const imports = named.filter((name) => name.startsWith(".")).map((name) => join(dirname(path), name));
    return { path, text, lines: text.split("\n").length - 1, program, imports: [...new Set(imports)] };
  });
}

function measureSource(): readonly Row[] {
  const functions = sources.map((source) => listFunctions(source.program).map(({ name }) => name));
  const answering = sources.flatMap(({ path, text, program }) =>
    listFunctions(program)
      .filter(({ start, end }) => /(?<!function )\btoCallResult\(/u.test(text.slice(start, end)))
      .map(({ name }) => `${path}: ${name}`),
  );
  const made = mechanisms.map(([name, sign]) => ({
    name,
    places: sources.flatMap(({ path, text }) => text.match(sign)?.map((found) => `${path}: ${found}`) ?? []),
  }));
  const small = findSmall();
  const vague = sources.flatMap(({ path, text }) => text.match(vagueWords)?.map((word) => `${path}: ${word}`) ?? []);
  const copies = sources.flatMap(({ path }, index) =>
    /^src\/(?:core|platform)\//u.test(path)
      ? []
      : (functions[index] ?? []).filter((name) => helpers.test(name)).map((name) => `${path}: ${name}`),
  );
  return [
    { name: "files in src without tests", count: sources.length, most: 1100 },
    { name: "lines", count: sources.reduce((sum, { lines }) => sum + lines, 0), most: 116_000 },
    { name: "top-level functions", count: functions.flat().length, most: 5000 },
    { name: "files under 60 lines that one file imports", count: small.length, most: 40, limited: true, places: small },
    { name: "somebody, nobody, whoever, is none …", count: vague.length, most: 10, limited: true, places: vague },
    { name: "copies of a helper of platform or core", count: copies.length, most: 0, limited: true, places: copies },
    {
      name: "functions that build the result of `tools/call`",
      count: answering.length,
      most: 1,
      limited: true,
      places: answering,
    },
    ...made.map(({ name, places }) => ({
      name: `implementations: ${name}`,
      count: places.length,
      most: 1,
      limited: true,
      places,
    })),
  ];
}

interface FoundFunction {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

function listFunctions(program: Program): readonly FoundFunction[] {
  return program.body.flatMap((statement): FoundFunction[] => {
    const { start, end } = statement;
    const isExport = statement.type === "ExportNamedDeclaration" || statement.type === "ExportDefaultDeclaration";
    const declaration = isExport ? statement.declaration : statement;
    if (declaration?.type === "FunctionDeclaration") return [{ name: declaration.id?.name ?? "default", start, end }];
    if (declaration?.type !== "VariableDeclaration") return [];
    return declaration.declarations.flatMap(({ id, init }) =>
      id.type === "Identifier" && (init?.type === "ArrowFunctionExpression" || init?.type === "FunctionExpression")
        ? [{ name: id.name, start, end }]
        : [],
    );
  });
}

function findSmall(): readonly string[] {
  const importers = new Map<string, number>();
  for (const path of sources.flatMap(({ imports }) => imports)) importers.set(path, (importers.get(path) ?? 0) + 1);
  return sources
    .filter(({ path, lines }) => lines < 60 && importers.get(path) === 1 && !tables.some((table) => table.test(path)))
    .map(({ path, lines }) => `${path} (${lines})`);
}

function measureRuns(): readonly Row[] {
  const project = mkdtempSync(join(tmpdir(), "kitbag-size-"));
  try {
    const place = ["--skills", "skills", "--store", `sqlite:${join(project, "store.db")}`];
    const call = ["call", "text-stats/stats-words", "--file", "README.md", "--top", "3", ...place];
    const run = ["run", "Sum amount by region in skills/csv-report/evals/files/sales.csv", ...place];
    trace(project, call);
    const [called, ran] = [trace(project, call), trace(project, run)];
    return [
      { name: "modules loaded by a warm `kitbag call` of a script", count: called.loaded, most: 380 },
      { name: "… of these executed", count: called.executed, most: 200 },
      { name: "modules loaded by `kitbag run` with one skill and SQLite", count: ran.loaded, most: 520 },
      { name: "… of these executed", count: ran.executed, most: 290 },
    ];
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
}

/** Runs a command of the source, and counts the files of `src` that were loaded, and those of which a function was called. */
function trace(project: string, words: readonly string[]): { readonly loaded: number; readonly executed: number } {
  const folder = mkdtempSync(join(project, "coverage-"));
  const env = { ...process.env, NODE_V8_COVERAGE: folder, KITBAG_HOME: join(project, "home") };
  const program = ["--conditions=@kitbag/source", "src/cli/main.ts", ...words];
  const { status, stderr } = spawnSync(process.execPath, program, { cwd: root, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`kitbag ${words.join(" ")} ended with ${status}: ${stderr}`);
  const all = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Coverage);
  const files = all
    .map(({ result }) => result.filter(({ url }) => url.startsWith(`file://${root}/src/`)))
    .toSorted((one, other) => other.length - one.length)[0];
  const isExecuted = (file: Coverage["result"][number]): boolean =>
    file.functions.some(({ functionName, ranges }) => functionName !== "" && (ranges[0]?.count ?? 0) > 0);
  return { loaded: files?.length ?? 0, executed: files?.filter(isExecuted).length ?? 0 };
}

function print(): void {
  const width = Math.max(...rows.map(({ name }) => name.length));
  console.log(`${"".padEnd(width)}      now  at most`);
  for (const { name, count, most } of rows) {
    console.log(`${name.padEnd(width)}  ${String(count).padStart(7)}  ${String(most).padStart(7)}`);
  }
  for (const { name, count, most, limited = false, places = [] } of rows) {
    if (!options.check || !limited || count <= most) continue;
    console.error(`\nToo many: ${name}: ${count}, at most ${most}:\n  ${places.slice(0, 80).join("\n  ")}`);
    process.exitCode = 1;
  }
}
