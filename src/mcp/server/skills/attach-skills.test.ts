import { createHash } from "node:crypto";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Client } from "@modelcontextprotocol/client";
import { SkillsClient, type ListSkillsResult } from "@modelcontextprotocol/client/ext/skills";
import { expect, test } from "vitest";
import { z } from "zod";

import { connect2025, connect2026, type ConnectedClient } from "../../../../test/support/mcp-client.ts";
import { createFolder } from "../../../../test/support/temporary-folder.ts";
import { defineSkill } from "../../../core/define-skill.ts";
import { defineTool } from "../../../core/define-tool.ts";
import type { Skill } from "../../../core/skill.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import { loadSkills } from "../../../workspace/skills/folder-skills.ts";

/** Takes any answer: what is wrong with a page is for the test to see. */
const pageSchema = z.custom<ListSkillsResult>();

const connects = [
  ["2025", connect2025],
  ["2026", connect2026],
] as const;

const pdf = {
  "pdf/SKILL.md":
    "---\nname: pdf\ndescription: Reads PDF files\nlicense: MIT\n---\n# PDF\n\nRead references/forms.md.\n",
  "pdf/references/forms.md": "# Forms\n",
  "pdf/references/deep/Q&A ü.md": "# Questions\n",
  "pdf/assets/logo.png": Uint8Array.from([0x89, 0x50, 0xff, 0x00, 0xfe]),
  "pdf/empty.txt": "",
};

test.for(connects)("a %s client lists, verifies and reads every file of a skill", async ([, connect]) => {
  const { client } = await connect(createWorkspace({ skills: await skillsIn(pdf) }));
  const skills = new SkillsClient(client);

  const listed = await skills.list();
  const [entry] = listed.skills;
  const read = await Promise.all(
    ["SKILL.md", "references/forms.md", "references/deep/Q&A ü.md", "assets/logo.png", "empty.txt"].map((path) =>
      skills.read(entry as never, path),
    ),
  );

  expect(listed.skills).toHaveLength(1);
  expect(entry).toMatchObject({
    uri: "skill://kitbag/pdf/SKILL.md",
    frontmatter: { name: "pdf", description: "Reads PDF files", license: "MIT" },
  });
  expect(read.map((file) => file.verified)).toEqual([true, true, true, true, true]);
  expect(read.map((file) => file.bytes.byteLength)).toEqual(
    [pdf["pdf/SKILL.md"], "# Forms\n", "# Questions\n", pdf["pdf/assets/logo.png"], ""].map(
      (file) => Buffer.from(file).length,
    ),
  );
});

test.for(connects)(
  "a %s client gets the digests and sizes of the bytes on disk, in a fixed order",
  async ([, connect]) => {
    const { client } = await connect(createWorkspace({ skills: await skillsIn(pdf) }));

    const { skills } = await new SkillsClient(client).list();

    const digest = (path: keyof typeof pdf): string => `sha256:${createHash("sha256").update(pdf[path]).digest("hex")}`;
    expect(skills[0]?.resources).toEqual([
      { uri: "skill://kitbag/pdf/SKILL.md", digest: digest("pdf/SKILL.md"), size: 93 },
      { uri: "skill://kitbag/pdf/assets/logo.png", digest: digest("pdf/assets/logo.png"), size: 5 },
      { uri: "skill://kitbag/pdf/empty.txt", digest: digest("pdf/empty.txt"), size: 0 },
      {
        uri: "skill://kitbag/pdf/references/deep/Q%26A%20%C3%BC.md",
        digest: digest("pdf/references/deep/Q&A ü.md"),
        size: 12,
      },
      { uri: "skill://kitbag/pdf/references/forms.md", digest: digest("pdf/references/forms.md"), size: 8 },
    ]);
  },
);

test("a text is sent as text with its media type, and anything else as base64", async () => {
  const { client } = await connect2025(createWorkspace({ skills: await skillsIn(pdf) }));

  const text = await client.readResource({ uri: "skill://kitbag/pdf/references/forms.md" });
  const image = await client.readResource({ uri: "skill://kitbag/pdf/assets/logo.png" });

  expect(text.contents).toEqual([
    { uri: "skill://kitbag/pdf/references/forms.md", mimeType: "text/markdown", text: "# Forms\n" },
  ]);
  expect(image.contents).toEqual([
    {
      uri: "skill://kitbag/pdf/assets/logo.png",
      mimeType: "image/png",
      blob: Buffer.from([0x89, 0x50, 0xff, 0, 0xfe]).toString("base64"),
    },
  ]);
});

test("a byte order mark and odd line ends stay as they are, because the digest is of them", async () => {
  const { client } = await connect2025(
    createWorkspace({ skills: await skillsIn({ ...pdf, "pdf/bom.txt": "\uFEFFa\r\nb\0" }) }),
  );
  const skills = new SkillsClient(client);
  const [entry] = (await skills.list()).skills;

  const file = await skills.read(entry as never, "bom.txt");

  expect([file.verified, Buffer.from(file.bytes).toString()]).toEqual([true, "\uFEFFa\r\nb\0"]);
});

test.for(connects)("a %s client reads folders, one level at a time", async ([, connect]) => {
  const { client } = await connect(createWorkspace({ skills: await skillsIn(pdf) }));

  const top = await readFolder(client, "skill://kitbag/pdf");
  const inner = await readFolder(client, "skill://kitbag/pdf/references");

  expect(top).toEqual([
    "SKILL.md text/markdown 93",
    "assets inode/directory",
    "empty.txt text/plain 0",
    "references inode/directory",
  ]);
  expect(inner).toEqual(["deep inode/directory", "forms.md text/markdown 8"]);
});

test("files with odd names are listed and read under one URI each", async () => {
  const names = [
    "%2e%2e",
    "a?b#c.md",
    "back\\slash.txt",
    " space .md",
    "émoji 🎒.md",
    "__proto__",
    "a%2Fb",
    "..dots",
    "SKILL.MD",
  ];
  const files = Object.fromEntries(names.map((name) => [`pdf/references/${name}`, `I am ${name}`]));
  const { client } = await connect2026(createWorkspace({ skills: await skillsIn({ ...pdf, ...files }) }));
  const skills = new SkillsClient(client);
  const [entry] = (await skills.list()).skills;
  const uris = entry?.resources === "dynamic" ? [] : (entry?.resources ?? []).map(({ uri }) => uri);

  const read = await Promise.all(uris.map((uri) => skills.read(entry as never, uri)));

  const texts = new Set(read.map(({ bytes }) => Buffer.from(bytes).toString()));
  expect(names.filter((name) => !texts.has(`I am ${name}`))).toEqual([]);
  expect(read.every(({ verified }) => verified)).toBe(true);
});

test("front matter with a hostile key is served as it is read, and verified", async () => {
  const front = "name: odd\ndescription: Odd\n__proto__:\n  polluted: yes\nconstructor: x";
  const { client } = await connect2025(
    createWorkspace({ skills: await skillsIn({ "odd/SKILL.md": `---\n${front}\n---\nDo.\n` }) }),
  );
  const skills = new SkillsClient(client);

  const [entry] = (await skills.list()).skills;
  const file = await skills.read(entry as never);

  expect([file.verified, entry?.frontmatter.name, "polluted" in {}]).toEqual([true, "odd", false]);
});

test("a skill that is defined in code gets a SKILL.md that clients verify, whatever is in its texts", async () => {
  const odd = 'Says: "hi" # no\n--- \\ \u0007 🎒';
  const skill = defineSkill({
    name: "greet",
    description: odd,
    version: "1.2.0",
    workDirection: "Say hello.\n---\nname: other",
  });
  const { client } = await connect2025(createWorkspace({ skills: [skill] }));
  const skills = new SkillsClient(client);

  const [entry] = (await skills.list()).skills;
  const file = await skills.read(entry as never, "SKILL.md");

  expect(entry?.frontmatter).toEqual({ name: "greet", description: odd, metadata: { version: "1.2.0" } });
  expect(file.verified).toBe(true);
  expect(Buffer.from(file.bytes).toString()).toMatch(/^---\nname: greet\n[^]*\n---\nSay hello\.\n---\nname: other$/u);
});

test("names that the extension does not allow are changed, and never meet each other or a real one", async () => {
  const names = ["My_Skill", "my.skill", "my-skill", "A".repeat(64), "x--y"];
  const skills = names.map((name) => defineSkill({ name, description: `About ${name}` }));
  const { client } = await connect2025(createWorkspace({ skills }));

  const listed = (await new SkillsClient(client).list()).skills;

  const served = listed.map(({ frontmatter }) => frontmatter.name);
  expect(new Set(served).size).toBe(names.length);
  expect(served).toContain("my-skill");
  expect(served.every((name) => /^[a-z0-9]+(?:-[a-z0-9]+)*$/u.test(name) && name.length <= 64)).toBe(true);
  expect(
    listed.find(({ frontmatter }) => frontmatter.description === "About My_Skill")?.frontmatter["metadata"],
  ).toEqual({
    "kitbag-skill": "My_Skill",
  });
});

test("a SKILL.md that breaks the rules is served in a form that keeps them, with the other files", async () => {
  const { client } = await connect2025(
    createWorkspace({
      skills: await skillsIn({
        "notes/SKILL.md": `---\nname: notes\ndescription: Takes notes: many of them, ${"long ".repeat(400)}\n---\nTake notes.\n`,
        "notes/references/how.md": "So.\n",
      }),
    }),
  );
  const skills = new SkillsClient(client);

  const [entry] = (await skills.list()).skills;
  const document = await skills.read(entry as never, "SKILL.md");
  const other = await skills.read(entry as never, "references/how.md");

  expect(Array.from(entry?.frontmatter.description ?? "")).toHaveLength(1024);
  expect(Buffer.from(document.bytes).toString()).toContain("Take notes.");
  expect([document.verified, other.verified]).toEqual([true, true]);
});

test("a skill that nobody trusts, or that only people open, is not there", async () => {
  const [trusted] = await skillsIn(pdf);
  const { folder } = trusted as Skill;
  const untrusted = {
    ...trusted,
    name: "other",
    folder: { ...folder, trust: { status: "untrusted", changed: [] } },
  } as Skill;
  const forPeople = defineSkill({ name: "deploy", description: "Deploys", modelInvocable: false });
  const { client } = await connect2025(createWorkspace({ skills: [untrusted, forPeople] }));

  const { skills } = await new SkillsClient(client).list();

  expect(skills).toEqual([]);
  await expect(client.readResource({ uri: "skill://kitbag/other/SKILL.md" })).rejects.toMatchObject({ code: -32602 });
  await expect(new SkillsClient(client).get("skill://kitbag/deploy/SKILL.md")).rejects.toMatchObject({ code: -32602 });
});

const hostile = [
  "skill://../../etc/passwd",
  "skill://kitbag/../../etc/passwd",
  "skill://kitbag/pdf/../../../etc/passwd",
  "skill://kitbag/pdf/references/../SKILL.md",
  "skill://kitbag/pdf/./SKILL.md",
  "skill://kitbag/pdf/%2e%2e/pdf/SKILL.md",
  "skill://kitbag/pdf/..%2f..%2fetc%2fpasswd",
  "skill://kitbag/pdf/references%2fforms.md",
  "skill://kitbag/pdf/references%5cforms.md",
  "skill://kitbag/pdf/SKILL.md%00.png",
  "skill://kitbag/pdf/%252e%252e/SKILL.md",
  "skill://kitbag//pdf/SKILL.md",
  "skill://kitbag/pdf/SKILL.md/",
  "skill://kitbag/pdf/SKILL.md?x=1",
  "skill://kitbag/pdf/SKILL.md#x",
  "skill://kitbag/pdf/%ff%fe",
  "skill://kitbag/pdf/%",
  "skill://kitbag/PDF/SKILL.md",
  "SKILL://kitbag/pdf/SKILL.md",
  "skill:///etc/passwd",
  "skill:pdf/SKILL.md",
  "skill://kitbag/pdf",
  "skill://kitbag/pdf/references",
  "skill://kitbag",
  "skill://",
  "skill://kitbag/__proto__/SKILL.md",
  "file:///etc/passwd",
  "kitbag://skills/../../etc/passwd",
  "kitbag://skills/%2e%2e%2fetc",
  `skill://kitbag/${"a/".repeat(100_000)}`,
  `skill://kitbag/${"%2e%2e/".repeat(1000)}etc/passwd`,
  "",
  "not a uri",
];

test.for(connects)("a %s client gets nothing for a URI that is not exactly that of a file", async ([, connect]) => {
  const { client } = await connect(createWorkspace({ skills: await skillsIn(pdf) }));

  const codes = await Promise.all(hostile.map((uri) => client.readResource({ uri }).then(() => uri, codeOf)));

  expect(codes).toEqual(hostile.map(() => -32602));
});

test("skills/get and resources/directory/read refuse hostile and unknown URIs with -32602", async () => {
  const { client } = await connect2026(createWorkspace({ skills: await skillsIn(pdf) }));
  const skills = new SkillsClient(client);
  const folders = new Set(["skill://kitbag/pdf", "skill://kitbag/pdf/references"]);

  const got = await Promise.all(hostile.map((uri) => skills.get(uri).then(() => uri, codeOf)));
  const read = await Promise.all(
    hostile.filter((uri) => !folders.has(uri)).map((uri) => readFolder(client, uri).then(() => uri, codeOf)),
  );

  expect(new Set(got)).toEqual(new Set([-32602]));
  expect(new Set(read)).toEqual(new Set([-32602]));
});

test("a file that changed on disk since it was listed is not sent", async () => {
  const folder = createFolder(pdf);
  const { client } = await connect2025(createWorkspace({ skills: await skillsAt(folder) }));
  await new SkillsClient(client).list();

  writeFileSync(join(folder, "pdf/references/forms.md"), "# Forgery\n");

  const failure = client.readResource({ uri: "skill://kitbag/pdf/references/forms.md" });
  await expect(failure).rejects.toMatchObject({
    code: -32603,
    message: expect.stringContaining("changed since it was listed"),
  });
});

test("a link that was put in the place of a file is not followed", async () => {
  const folder = createFolder({ ...pdf, "secret.txt": "# Forms\n" });
  const { client } = await connect2025(createWorkspace({ skills: await skillsAt(folder) }));
  await new SkillsClient(client).list();
  rmSync(join(folder, "pdf/references/forms.md"));
  symlinkSync(join(folder, "secret.txt"), join(folder, "pdf/references/forms.md"));

  const failure = client.readResource({ uri: "skill://kitbag/pdf/references/forms.md" });

  await expect(failure).rejects.toMatchObject({ code: -32603 });
});

test("a skill with more bytes or files than hosts must take is not served, and the others are", async () => {
  const document = "---\nname: NAME\ndescription: Has much\n---\n";
  const many = Array.from({ length: 513 }, (_, index): [string, string] => [`many/f${index}.txt`, ""]);
  const skills = await skillsIn({
    ...pdf,
    "large/SKILL.md": document.replace("NAME", "large"),
    "large/large.bin": new Uint8Array(16 * 1024 * 1024),
    "many/SKILL.md": document.replace("NAME", "many"),
    ...Object.fromEntries(many),
  });
  const { client } = await connect2025(createWorkspace({ skills }));

  const listed = (await new SkillsClient(client).list()).skills;
  const { contents } = await client.readResource({ uri: "kitbag://skills/large" });

  expect(skills).toHaveLength(3);
  expect(listed.map(({ frontmatter }) => frontmatter.name)).toEqual(["pdf"]);
  await expect(client.readResource({ uri: "skill://kitbag/large/large.bin" })).rejects.toMatchObject({ code: -32602 });
  expect((contents[0] as { text: string }).text).toContain("- large.bin (16777216 bytes)");
});

test("a SKILL.md that uses keys of the protocol is served without them", async () => {
  const front = 'name: odd\ndescription: Odd\nmetadata:\n  io.modelcontextprotocol/x: "1"';
  const { client } = await connect2025(
    createWorkspace({ skills: await skillsIn({ "odd/SKILL.md": `---\n${front}\n---\nDo.\n` }) }),
  );

  const [entry] = (await new SkillsClient(client).list()).skills;

  expect(entry?.frontmatter).toEqual({ name: "odd", description: "Odd" });
});

test("skills are listed page by page, in the order of their URIs, and a wrong cursor is refused", async () => {
  const skills = Array.from({ length: 230 }, (_, index) =>
    defineSkill({ name: `skill-${index}`, description: "One of many" }),
  );
  const { client } = await connect2026(createWorkspace({ skills }));
  const pages: string[][] = [];

  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await listPage(client, cursor === undefined ? {} : { cursor });
    pages.push(page.skills.map(({ uri }) => uri));
    cursor = page.nextCursor;
  }

  expect(pages.map((page) => page.length)).toEqual([100, 100, 30]);
  expect(pages.flat()).toEqual(skills.map(({ name }) => `skill://kitbag/${name}/SKILL.md`).toSorted());
  for (const cursor of ["nonsense", "", "YWZ0", "💥", "a".repeat(10_000)]) {
    await expect(listPage(client, { cursor })).rejects.toMatchObject({ code: -32602 });
  }
});

test("a skill that is replaced is served anew, and clients hear of it", async () => {
  const workspace = createWorkspace({ skills: [defineSkill({ name: "greet", description: "One" })] });
  const { client } = await connect2025(workspace);
  const heard = hear(client, "notifications/resources/list_changed");
  const before = await new SkillsClient(client).list();

  workspace.replaceSkill(defineSkill({ name: "greet", description: "Two" }));
  workspace.addSkill(defineSkill({ name: "wave", description: "Three" }));
  await heard.first;
  const after = await new SkillsClient(client).list();

  expect(before.skills.map(({ frontmatter }) => frontmatter.description)).toEqual(["One"]);
  expect(after.skills.map(({ frontmatter }) => frontmatter.description)).toEqual(["Two", "Three"]);
  expect(heard.count()).toBe(1);
});

test("the capability says that folders can be read, and 2026 answers say how long they hold", async () => {
  const { client } = await connect2026(createWorkspace({ skills: await skillsIn(pdf) }));

  const listed = await new SkillsClient(client).list();

  expect(client.getServerCapabilities()?.extensions).toEqual({
    "io.modelcontextprotocol/skills": { directoryRead: true },
  });
  expect(listed).toMatchObject({ ttlMs: 30_000, cacheScope: "private" });
});

test("a skill with tools is served the same, open or not", async () => {
  const tool = defineTool({ name: "hello", description: "Says hello", run: () => "hello" });
  const workspace = createWorkspace({ skills: [defineSkill({ name: "greet", description: "Greets", tools: [tool] })] });
  const { client, session } = await connect2025(workspace);
  const before = await new SkillsClient(client).list();

  await session.activateSkill("greet");

  expect(await new SkillsClient(client).list()).toEqual(before);
});

async function skillsIn(files: Readonly<Record<string, string | Uint8Array>>): Promise<Skill[]> {
  return skillsAt(createFolder(files));
}

async function skillsAt(directory: string): Promise<Skill[]> {
  const { reports } = await loadSkills({ directories: [directory] });
  return reports.flatMap((report) => report.skill ?? []);
}

function listPage(client: Client, params: { readonly cursor?: string }): Promise<ListSkillsResult> {
  return client.request({ method: "skills/list", params }, pageSchema);
}

async function readFolder(client: Client, uri: string): Promise<string[]> {
  const { resources } = await new SkillsClient(client).readDirectory(uri);
  return resources.map(({ name, mimeType, size }) =>
    [name, mimeType, size].filter((part) => part !== undefined).join(" "),
  );
}

function hear(
  client: ConnectedClient["client"],
  method: "notifications/resources/list_changed",
): {
  readonly first: Promise<void>;
  count(): number;
} {
  let count = 0;
  const first = new Promise<void>((resolve) => {
    client.setNotificationHandler(method, () => {
      count += 1;
      resolve();
    });
  });
  return { first, count: () => count };
}

function codeOf(cause: unknown): unknown {
  return (cause as { readonly code?: unknown }).code ?? cause;
}
