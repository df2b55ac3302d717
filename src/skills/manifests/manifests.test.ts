import fc from "fast-check";
import { expect, test } from "vitest";

import { readKitbagToml } from "./read-kitbag-toml.ts";
import { readPluginToml } from "./read-plugin-toml.ts";
import { readToolJson } from "./read-tool-json.ts";

test("readKitbagToml() reads what a skill says about itself, its permissions and its tools", () => {
  const { manifest, diagnostics } = kitbagToml(`
    [skill]
    version = "1.2.0"
    requires = ["base"]
    uses = ["mail/send@^1"]

    [permissions]
    network = ["api.github.com:443"]

    [[tools]]
    name = "extract"
    kind = "script"
    file = "scripts/extract.py"
    limitMs = 5000
    annotations = { readOnly = true }

    [[tools]]
    name = "alert"
    kind = "reuse"
    uses = "mail/send"
    locked = { to = "ops" }
  `);

  expect(diagnostics).toEqual([]);
  expect(manifest).toMatchObject({
    file: "kitbag.toml",
    version: "1.2.0",
    requires: ["base"],
    uses: ["mail/send@^1"],
    permissions: { network: ["api.github.com:443"] },
    tools: [
      { name: "extract", kind: "script", file: "scripts/extract.py", limitMs: 5000, annotations: { readOnly: true } },
      { name: "alert", kind: "reuse", uses: "mail/send", locked: { to: "ops" } },
    ],
  });
});

test("readKitbagToml() names unknown keys with their line and what was probably meant", () => {
  const { manifest, diagnostics } = kitbagToml('[permissions]\nnetwrk = ["x"]\n');

  expect(manifest).toBeUndefined();
  expect(diagnostics).toMatchInlineSnapshot(`
    [
      {
        "code": "manifest-invalid",
        "cure": "write network",
        "file": "kitbag.toml",
        "line": 2,
        "message": "Cannot use kitbag.toml: permissions.netwrk: expected only read, write, network, env, run, sockets, found an unknown parameter (did you mean "network"?)",
        "severity": "error",
      },
    ]
  `);
});

test("readKitbagToml() says where the text is no TOML, and which part of a tool is missing", () => {
  expect(kitbagToml("[skill\nname = 1").diagnostics).toMatchObject([{ severity: "error", line: 1 }]);
  expect(kitbagToml('[[tools]]\nname = "a"\nkind = "wasm"').diagnostics).toMatchObject([
    { message: 'Cannot use kitbag.toml: tools[0] ("a") is a wasm and needs "file"' },
  ]);
  expect(kitbagToml('[[tools]]\nname = "a"\nkind = "docker"').diagnostics[0]?.message).toContain('"docker"');
});

test("readKitbagToml() reads what a WASM module is built from, and refuses it for what is not built", () => {
  const tool = (rest: string) => kitbagToml(`[[tools]]\nname = "sum"\nfile = "sum.wasm"\n${rest}`);

  expect(tool('kind = "wasm"\nsource = "src/sum.h"\nlanguage = "c"').manifest?.tools).toEqual([
    { name: "sum", kind: "wasm", file: "sum.wasm", source: "src/sum.h", language: "c" },
  ]);
  expect(tool('kind = "wasm"\nsource = "a.f90"\nlanguage = "fortran"').diagnostics[0]?.message).toContain('"fortran"');
  expect(tool('kind = "wasm"\nsource = 1').manifest).toBeUndefined();
  expect(tool('kind = "script"\nsource = "src/sum.c"').diagnostics).toMatchObject([
    { message: 'Cannot use kitbag.toml: tools[0] ("sum") is a script and is not built: only "wasm" has a "source"' },
  ]);
});

test("readKitbagToml() reads how often a tool is tried, how often it may be called, and how long its outputs are used", () => {
  const { manifest, diagnostics } = kitbagToml(`
    [[tools]]
    name = "rates"
    kind = "wasm"
    file = "rates.wasm"
    annotations = { readOnly = true }
    retries = 2
    rate = { calls = 100, inMs = 60_000, burst = 10 }
    cache = { ttlMs = 600_000, tags = ["money"], scope = "everybody" }
  `);

  expect(diagnostics).toEqual([]);
  expect(manifest?.tools[0]).toMatchObject({
    retries: 2,
    rate: { calls: 100, inMs: 60_000, burst: 10 },
    cache: { ttlMs: 600_000, tags: ["money"], scope: "everybody" },
  });
});

test.for([
  ["retries = 11", 4, "tools[0].retries: expected at most 10, found 11"],
  ["retries = 1.5", 4, "tools[0].retries: expected a whole number, found 1.5"],
  ["rate = { calls = 1 }", 4, "tools[0].rate.inMs: expected"],
  ["rate = { calls = 0, inMs = 1 }", 4, "tools[0].rate.calls: expected at least 1, found 0"],
  ['rate = "100 per 1m"', 4, "tools[0].rate: expected an object"],
  ["cache = { ttl = 5 }", 4, "tools[0].cache"],
  ['cache = "10m"', 4, "tools[0].cache: expected an object"],
  ['cache = { ttlMs = 5, tags = ["a b"] }', 4, "tools[0].cache.tags[0]: expected"],
  ['cache = { ttlMs = 5, scope = "world" }', 4, 'tools[0].cache.scope: expected one of "user", "everybody"'],
] as const)("readKitbagToml() refuses %s, and says in which line", ([line, at, said]) => {
  const { manifest, diagnostics } = kitbagToml(`[[tools]]\nname = "a"\nkind = "wasm"\n${line}\nfile = "a.wasm"\n`);

  expect(manifest).toBeUndefined();
  expect(diagnostics[0]).toMatchObject({
    severity: "error",
    line: at,
    message: expect.stringContaining(said) as string,
  });
});

test("readKitbagToml() refuses retries of a tool that may not be run twice, and says which annotation to add", () => {
  const tool = 'name = "send"\nkind = "script"\nfile = "send.py"\n';

  expect(kitbagToml(`[[tools]]\n${tool}retries = 0`).diagnostics).toEqual([]);
  expect(kitbagToml(`[[tools]]\n${tool}retries = 1\nannotations.idempotent = true`).diagnostics).toEqual([]);
  expect(kitbagToml(`[[tools]]\n${tool}retries = 1`).diagnostics).toMatchInlineSnapshot(`
    [
      {
        "code": "manifest-invalid",
        "cure": "If it may be run twice, add annotations = { idempotent = true }, or { readOnly = true } if it changes nothing",
        "file": "kitbag.toml",
        "message": "Cannot use kitbag.toml: tools[0] ("send") is a script and has "retries", but is neither idempotent nor read-only, so it must not be run twice",
        "severity": "error",
      },
    ]
  `);
});

test.for(["retries = 1", "rate = { calls = 1, inMs = 1 }", "cache = { ttlMs = 1 }"])(
  "readKitbagToml() refuses %s for what only calls others",
  (line) => {
    const name = line.split(" ")[0];

    for (const kind of ['kind = "pipeline"\nsteps = []', 'kind = "reuse"\nuses = "mail/send"']) {
      expect(kitbagToml(`[[tools]]\nname = "a"\n${kind}\n${line}\n`).diagnostics).toMatchObject([
        { message: expect.stringContaining(`and has no "${name}"`) as string, cure: expect.any(String) as string },
      ]);
    }
  },
);

test("P1: readPluginToml() reads a plugin that is a skill and a tool", () => {
  const { manifest, diagnostics } = pluginToml(
    'name = "design"\nversion = "1.0.0"\ncapabilities = ["skill", "tool"]\nwasm_path = "./design.wasm"\npermissions = ["http_client", "file_read"]\nhosts = ["api.example.com", "*.example.org:8443"]\n[[tools]]\nname = "generate"\ninput_schema = { type = "object" }\n[[tools]]\nname = "compose"',
    ["SKILL.md", "design.wasm"],
  );

  expect(diagnostics).toEqual([]);
  expect(manifest).toMatchObject({
    name: "design",
    needsDocument: true,
    permissions: { network: ["api.example.com", "*.example.org:8443"], read: ["."] },
    tools: [
      { name: "generate", kind: "wasm", file: "design.wasm", input: { type: "object" } },
      { name: "compose", kind: "wasm", file: "design.wasm" },
    ],
  });
});

test.for(["http_client", "websocket_client"])(
  "P4: readPluginToml() grants %s no hosts that the manifest does not name",
  (word) => {
    const text = `name = "x"\ncapabilities = ["skill"]\npermissions = ["${word}"]\n`;

    const without = pluginToml(text, ["SKILL.md"]);
    const every = pluginToml(`${text}hosts = ["*"]\n`, ["SKILL.md"]);
    const hostsAlone = pluginToml('name = "x"\ncapabilities = ["skill"]\nhosts = ["a.example"]\n', ["SKILL.md"]);

    expect(without.manifest?.permissions.network ?? []).toEqual([]);
    expect(without.diagnostics).toMatchObject([{ severity: "info", code: "hosts-missing" }]);
    expect(every.manifest?.permissions).toEqual({ network: ["*"] });
    expect(hostsAlone.manifest?.permissions.network ?? []).toEqual([]);
  },
);

test("P1: readPluginToml() refuses a plugin whose declared parts are not there", () => {
  const { manifest, diagnostics } = pluginToml(
    'name = "x"\ncapabilities = ["skill", "tool", "channel"]\nwasm_path = "../x.wasm"',
    [],
  );

  expect(manifest).toBeUndefined();
  expect(diagnostics.map((one) => one.message)).toEqual([
    'Cannot use manifest.toml: Kitbag has no capability "channel"; it has skill and tool',
    'Cannot use manifest.toml: it declares the capability "skill" and has no SKILL.md',
    'Cannot use manifest.toml: wasm_path names "../x.wasm", which is not in the folder',
  ]);
  expect(pluginToml('name = "x"\ncapabilities = ["tool"]', []).diagnostics[0]?.message).toContain("no wasm_path");
  expect(pluginToml('name = "x"\ncapabilities = []', []).diagnostics[0]?.message).toContain("no capability");
});

test("readPluginToml() refuses a permission that nothing enforces, by name", () => {
  const { diagnostics } = pluginToml(
    'name = "x"\ncapabilities = ["skill"]\npermissions = ["socket_client", "env_read"]',
    ["SKILL.md"],
  );

  expect(diagnostics).toMatchObject([{ severity: "error", code: "permission-unknown" }]);
  expect(diagnostics[0]?.message).toContain('"socket_client"');
});

test("readPluginToml() takes a plugin that lists no tools as one tool, and knows which environment it may see", () => {
  const { manifest } = pluginToml(
    'name = "x"\ncapabilities = ["tool"]\nwasm_path = "x.wasm"\npermissions = ["env_read"]',
    ["x.wasm"],
  );

  expect(manifest).toMatchObject({ tools: [{ name: "x", kind: "wasm" }], grantsSeenEnvironment: true });
});

test("Z9: readToolJson() reads a folder that is one tool", () => {
  const text = JSON.stringify({
    name: "greet",
    version: "1.0.0",
    description: "Greets",
    tool_type: "script",
    entry_file: "greet.py",
    input_schema: { type: "object" },
    output_schema: null,
    annotations: { readOnlyHint: true, title: "Greet" },
    created_at: "2026",
  });

  const { manifest } = readToolJson("manifest.json", bytes(text), new Set(["greet.py"]));

  expect(manifest).toMatchObject({
    name: "greet",
    version: "1.0.0",
    tools: [{ name: "greet", kind: "script", file: "greet.py", annotations: { readOnly: true } }],
  });
});

test("readToolJson() reads permissions, packages, limits and what a module is built from, and refuses what nobody enforces", () => {
  const read = (manifest: object) =>
    readToolJson(
      "manifest.json",
      bytes(JSON.stringify({ name: "a", tool_type: "script", entry_file: "a.js", ...manifest })),
      new Set(["a.js", "a.wasm"]),
    );
  const full = {
    permissions: { network: ["api.example.com"] },
    dependencies: ["lodash@^4"],
    limits: { limitMs: 500, retries: 1 },
    needs_approval: true,
    source_file: "a.rs",
    language: "rust",
  };

  expect(read(full).manifest).toMatchObject({
    permissions: { network: ["api.example.com"] },
    dependencies: { npm: ["lodash@^4"] },
    tools: [{ limitMs: 500, retries: 1, needsApproval: true, source: "a.rs", language: "rust" }],
  });
  expect(read({ dependencies: { python: ["requests"] } }).manifest?.dependencies).toEqual({ python: ["requests"] });
  expect(read({ dependencies: ["requests"], entry_file: "a.wasm" }).manifest?.dependencies).toEqual({
    python: ["requests"],
  });
  expect(read({ dependencies: [] }).manifest).not.toHaveProperty("dependencies");
  expect(read({ permissions: { netwrk: ["x"] } }).diagnostics[0]?.message).toContain("netwrk");
  expect(read({ permissions: { network: "x" } }).manifest).toBeUndefined();
});

test("readToolJson() finds the entry file by its name, and says when there is none", () => {
  const read = (manifest: object, files: readonly string[]) =>
    readToolJson("manifest.json", bytes(JSON.stringify(manifest)), new Set(files));

  expect(read({ name: "a", tool_type: "wasm" }, ["a.rs", "a.wasm"]).manifest?.tools[0]?.file).toBe("a.wasm");
  expect(read({ name: "a", tool_type: "script" }, ["a.wasm", "a.sh"]).manifest?.tools[0]?.file).toBe("a.sh");
  expect(read({ name: "a", tool_type: "script" }, []).diagnostics[0]?.message).toContain("names no entry_file");
  expect(read({ name: "a", tool_type: "script", entry_file: "../b" }, []).diagnostics[0]?.message).toContain(
    "not in the folder",
  );
  expect(read({ name: "a", tool_type: "pipeline", pipeline_steps: [] }, []).manifest?.tools).toMatchObject([
    { kind: "pipeline" },
  ]);
  expect(read({ name: "../a", tool_type: "script" }, []).manifest).toBeUndefined();
});

test("readKitbagToml() reads other MCP servers", () => {
  const { manifest, diagnostics } = kitbagToml(
    '[permissions]\nnetwork = ["example.com"]\n[mcp.local]\ncommand = "python3"\nargs = ["server.py"]\n[mcp.far]\nurl = "https://example.com/mcp"\n',
  );

  expect(diagnostics).toEqual([]);
  expect(manifest?.mcp).toEqual({
    local: { command: "python3", args: ["server.py"] },
    far: { url: "https://example.com/mcp" },
  });
});

test.for([
  ['[mcp.a]\ncommand = "a"\nsandbox = "off"', "sandbox"],
  ['[mcp.a]\ncommand = "a"\npermissions = { read = ["/"] }', "permissions"],
  ['[mcp.a]\nurl = "https://example.com"', "its host is not granted"],
  ['[mcp.a]\nurl = "file:///etc/passwd"', "url"],
  ["[mcp.a]", 'either "command" or "url"'],
  ['[mcp."../a"]\ncommand = "a"', "its name must be of"],
  ["[mcp.a]\ncommand = 1", "command"],
])("readKitbagToml() refuses the server %j", ([text = "", reason = ""]) => {
  const { manifest, diagnostics } = kitbagToml(text);

  expect(manifest).toBeUndefined();
  expect(diagnostics[0]?.message).toContain(reason);
});

test("readKitbagToml() and its like never throw, whatever the bytes are", () => {
  const hostile = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .constantFrom(
        "__proto__ = 1",
        "[__proto__]\nx = 1",
        "x = nan",
        "[[tools]]",
        '{"__proto__": 1}',
        "[".repeat(5000),
        "a.".repeat(5000),
      )
      .map(bytes),
  );
  fc.assert(
    fc.property(hostile, (content) => {
      for (const read of [readKitbagToml, readPluginToml, readToolJson]) {
        for (const file of ["kitbag.toml", "manifest.json"]) {
          const { manifest, diagnostics } = read(file, content, new Set());
          expect(manifest !== undefined || diagnostics.some((one) => one.severity === "error")).toBe(true);
        }
      }
    }),
  );
  expect(readKitbagToml("kitbag.toml", new Uint8Array(300_000)).diagnostics[0]?.message).toContain("larger than");
});

function kitbagToml(text: string): ReturnType<typeof readKitbagToml> {
  return readKitbagToml("kitbag.toml", bytes(text));
}

function pluginToml(text: string, files: readonly string[]): ReturnType<typeof readPluginToml> {
  return readPluginToml("manifest.toml", bytes(text), new Set(files));
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
