import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterAll, expect, onTestFinished, test, type TestContext } from "vitest";

import { needCompiler } from "../../../test/support/build-kit.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Permissions } from "../../core/permissions.ts";
import {
  expectLive,
  openTestForge,
  openTestRuntimes,
  outputOf,
  type TestForge,
} from "../../../test/support/open-test-forge.ts";
import { openRuntimes } from "../../runtimes/open-runtimes.ts";
import type { ForgeAnswer, SkillAnswer } from "../forge-interface.ts";
import { fillTemplate } from "./create-template-tool.ts";
import { templates } from "./templates.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

const needed: Readonly<Record<string, JsonObject>> = { pipeline: { tools: ["first"] } };

/** Texts that end a literal, a comment or a word somewhere. */
const hostile = `"; 'x' \`id\` $(id) \${HOME} \\ """ ''' */ #{x} %s {0} ../../etc \u2028ü😀`;

test("templates are these, each with words and parameters", () => {
  expect(templates.map(({ name, makes }) => `${makes} ${name}`)).toEqual([
    "tool api-client",
    "tool csv-report",
    "tool file-converter",
    "tool llm-judge",
    "tool pipeline",
    "tool script-bash",
    "tool script-node",
    "tool script-python",
    "skill skill-plain",
    "skill skill-with-script",
    "tool sql-query",
    "tool wasm-assemblyscript",
    "tool wasm-rust",
    "tool web-scraper",
  ]);
  for (const { parameters, description } of templates) {
    expect(description.length).toBeGreaterThan(40);
    expect(parameters).toMatchObject({ type: "object", additionalProperties: false });
  }
});

test.for(templates.map(({ name }) => name))(
  "%s passes the gate as it is",
  { timeout: 180_000 },
  async (name, context) => {
    await needLanguage(context, name);
    const place = await openTestForge(runtimes, { policy: { permissions: everything } });
    if (name === "pipeline") await make(place, "script-node", { name: "first" });

    const answer = await make(place, name, { parameters: needed[name] ?? {} });

    expect(answer).toMatchObject({ status: "live", name: "made" });
    expect("diagnostics" in answer && answer.diagnostics).toEqual([]);
  },
);

test("templates ask for what they need and no more", () => {
  const asked = templates.map((template) => {
    const filled = fillTemplate({ template: template.name, name: "made", parameters: needed[template.name] ?? {} });
    return [template.name, "permissions" in filled.draft ? filled.draft.permissions : undefined] as const;
  });

  expect(Object.fromEntries(asked.filter(([, permissions]) => permissions !== undefined))).toEqual({
    "api-client": { network: ["api.example.com"] },
    "sql-query": { read: ["./data/app.db"] },
    "web-scraper": { network: ["example.com"] },
  });
});

test.for([
  ["csv-report", { groupBy: hostile, sumOf: `${hostile}\n2` }],
  ["script-bash", { label: hostile, example: hostile }],
  ["script-node", { example: hostile }],
  ["script-python", { example: hostile }],
  ["llm-judge", { rubric: [{ name: hostile, contains: [hostile, "Paris"], avoids: [`\n${hostile}`] }] }],
  ["wasm-assemblyscript", { label: `${hostile}\n` }],
  ["wasm-rust", { label: `${hostile}\n` }],
  ["sql-query", { database: `./a'b"c$(id).db` }],
  ["api-client", { prefix: hostile }],
  ["skill-plain", { purpose: hostile, steps: [hostile, "# no heading", "---"] }],
] as const)(
  "%s passes the gate when its parameters are hostile",
  { timeout: 180_000 },
  async ([name, parameters], context) => {
    await needLanguage(context, name);
    const place = await openTestForge(runtimes, { policy: { permissions: everything } });

    const answer = await make(place, name, { parameters, description: hostile });

    expect(answer).toMatchObject({ status: "live", name: "made" });
  },
);

test.for([
  ["api-client", { host: "a.example.com/../x" }],
  ["api-client", { host: "*.example.com" }],
  ["api-client", { host: "a@b" }],
  ["api-client", { keyEnv: "A=$(id)" }],
  ["api-client", { header: "X\r\nY" }],
  ["web-scraper", { hosts: ["*"] }],
  ["pipeline", { tools: ["a"], argument: "$input" }],
  ["pipeline", { tools: ["a"], field: "a.b}" }],
  ["script-python", { argument: "text\n" }],
  ["script-python", { argument: "__proto__ " }],
  ["script-bash", { label: "a\u0000b" }],
  ["skill-plain", { steps: ["one\ntwo"] }],
  ["skill-with-script", { tool: "../x" }],
  ["csv-report", { delimiter: "'" }],
] as const)("%s refuses %j", ([template, parameters]) => {
  const fill = (): unknown => fillTemplate({ template, name: "made", parameters });

  expect(fill).toThrow(/parameters\.\w+/u);
});

test.for(["../evil", "a b", "$(id)", "a\nb", "CON", "create_tool\u0000", "", "__proto__/x"])(
  "templates make nothing under the name %j",
  async (name) => {
    const place = await openTestForge(runtimes);

    const tool = await make(place, "script-bash", { name });
    const skill = await make(place, "skill-plain", { name });

    expect([tool.status, skill.status]).toEqual(["refused", "refused"]);
  },
);

test("fillTemplate() says which parameter is missing, with its schema, and which template was meant", () => {
  expect(() => fillTemplate({ template: "pipeline", name: "x" })).toThrow(/parameters\.tools.*"minItems":1/u);
  expect(() => fillTemplate({ template: "csv_report", name: "x" })).toThrow('did you mean "csv-report"');
  expect(() => fillTemplate({ template: "__proto__", name: "x" })).toThrow("one of api-client, csv-report");
  expect(() => fillTemplate({ template: "csv-report", name: "x", parameters: { groupby: "a" } })).toThrow("groupBy");
});

test("sql-query reads a database, and changes nothing whatever it is asked", async (context) => {
  await needLanguage(context, "sql-query");
  const place = await openWithFiles();
  const database = new DatabaseSync(join(place.directory, "data/app.db"));
  database.exec("create table notes (text); insert into notes values ('one'), ('two')");
  database.close();
  expectLive(await make(place, "sql-query", {}));

  const rows = await outputOf(place.workspace, "made", { sql: "select text from notes where text > ?", values: ["p"] });
  const wrong = await Promise.all(
    ["delete from notes", "attach 'x.db' as x", "pragma writable_schema = 1", "select 1; select 2"].map((sql) =>
      outputOf(place.workspace, "made", { sql }),
    ),
  );

  expect(rows).toEqual({ columns: ["text"], rows: [["two"]], more: false });
  expect(wrong).toEqual(Array.from({ length: 4 }, () => "script-failed"));
});

test("csv-report reads a file of its folder and no other", async (context) => {
  await needLanguage(context, "csv-report");
  const place = await openWithFiles();
  writeFileSync(join(place.directory, "data/a.csv"), "category,amount\nx,1\nx,2\n");
  writeFileSync(join(place.directory, "secret.csv"), "category,amount\nx,1\n");
  expectLive(await make(place, "csv-report", { parameters: { folder: "./data" } }));

  const read = await outputOf(place.workspace, "made", { path: "data/a.csv" });
  const secret = await outputOf(place.workspace, "made", { path: "data/../secret.csv" });

  expect(read).toMatchObject({ rows: 2, groups: [{ group: "x", sum: 3 }] });
  expect(secret).toBe("script-failed");
});

test("api-client and web-scraper reach their host, and no other", async (context) => {
  await needLanguage(context, "api-client");
  const server = createServer((request, response) => {
    const { url = "", headers } = request;
    response.setHeader("content-type", url.startsWith("/page") ? "text/html" : "application/json");
    response.end(
      url.startsWith("/page") ? "<title>Hi</title>" : JSON.stringify({ url, key: headers["x-key"] ?? null }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const place = await openTestForge(runtimes, { policy: { permissions: { network: [host] } } });
  const parameters = { baseUrl: `http://${host}/v2/`, path: "/items" };
  expectLive(await make(place, "api-client", { name: "api", parameters }));
  expectLive(await make(place, "web-scraper", { name: "scraper", parameters: { hosts: [host] } }));

  const asked = await outputOf(place.workspace, "api", { query: { q: "1" } });
  const elsewhere = await outputOf(place.workspace, "api", { path: "//example.com/x" });
  const scraped = await outputOf(place.workspace, "scraper", { url: `http://${host}/page` });
  const other = await outputOf(place.workspace, "scraper", { url: "http://example.com/" });
  const file = await outputOf(place.workspace, "scraper", { url: "file:///etc/passwd" });

  expect(asked).toEqual({ url: `http://${host}/v2/items?q=1`, status: 200, body: { url: "/v2/items?q=1", key: null } });
  expect(scraped).toMatchObject({ title: "Hi" });
  expect([elsewhere, other, file]).toEqual(["script-failed", "script-failed", "script-failed"]);
});

test("file-converter brings every JSON back from YAML, and says what it cannot read", async (context) => {
  await needLanguage(context, "file-converter");
  const place = await openTestForge(runtimes);
  expectLive(await make(place, "file-converter", {}));
  const value = {
    "a: b": ["x # y", "it's", '"', "", "- 1", "true", " ", hostile, "line\nbreak"],
    nested: [[1, [2, { deep: { er: null } }]], {}, [], [{ a: 1, b: [true, -1.5e3] }]],
    "#": "1",
    "'": "~",
    __proto__x: false,
  };
  const convert = (text: string, from: string, to: string): Promise<unknown> =>
    outputOf(place.workspace, "made", { text, from, to });

  const { text: yaml } = (await convert(JSON.stringify(value), "json", "yaml")) as { text: string };
  const { text: json } = (await convert(yaml, "yaml", "json")) as { text: string };
  const wrong = await Promise.all(
    ["a: &x 1", "a:\n\tb: 1", "a: 1\n - b", "- ".repeat(5000), "a: {b"].map((text) => convert(text, "yaml", "json")),
  );

  expect(JSON.parse(json)).toEqual(value);
  expect(wrong).toEqual(Array.from({ length: 5 }, () => "script-failed"));
});

const withoutPython = new Set(["pipeline", "script-bash", "script-node", "skill-plain", "wasm-assemblyscript"]);

const everything: Permissions = {
  network: ["api.example.com", "example.com"],
  env: ["API_KEY"],
  read: ["."],
};

/** A forge whose tools find files in its project. */
async function openWithFiles(): Promise<TestForge> {
  const directory = createFolder({ "data/readme.txt": "" });
  const own = openRuntimes({ directory, home: join(directory, "home") });
  onTestFinished(() => own.close());
  return openTestForge(own, { directory, policy: { permissions: everything } });
}

/** Skips a test whose template is in a language that this machine cannot run. */
async function needLanguage(context: Pick<TestContext, "skip">, template: string): Promise<void> {
  if (template === "wasm-rust") await needCompiler(context, await runtimes.findSandbox(), "rust");
  else if (!withoutPython.has(template)) needProgram(context, "python3");
}

async function make(
  { forge }: TestForge,
  template: string,
  wish: { readonly name?: string; readonly description?: string; readonly parameters?: JsonObject },
): Promise<ForgeAnswer | SkillAnswer> {
  const { makes, draft } = fillTemplate({ template, name: "made", ...wish });
  if (makes === "skill") return forge.createSkill(draft);
  return "steps" in draft ? forge.createPipeline(draft) : forge.createTool(draft);
}
