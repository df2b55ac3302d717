import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { checkNeeds, type Machine } from "./check-needs.ts";
import { loadSkills } from "./load-skills.ts";

const machine: Machine = { kitbag: "0.3.1", node: "24.5.0", system: "linux" };

test.for([
  ["", []],
  ["kitbag >=0.3, node >=22.19 <25", []],
  ["node>=24,linux,macos", []],
  ["Node ^24", []],
  ["node >=26", ["Needs Node >=26, and this is Node 24.5.0"]],
  [
    "kitbag ^1, macos, windows",
    ["Needs macos or windows, and this machine runs linux", "Needs Kitbag ^1, and this is Kitbag 0.3.1"],
  ],
] as const)("checkNeeds() holds %j against the machine", ([needs, messages]) => {
  expect(messagesFor(needs)).toEqual(messages);
});

test.for(["python >=3.9", "node newest", "lunix", "node", "--", "\u0000"])(
  "checkNeeds() refuses %j, which it cannot read",
  (needs) => {
    const [message] = messagesFor(needs);

    expect(needs === "node" ? message : message?.slice(0, 28)).toBe(
      needs === "node" ? undefined : 'Cannot read what it needs: "',
    );
  },
);

test("loadSkills() loads no skill whose needs are not met, and says what is missing", async () => {
  const folder = createFolder({
    "old/SKILL.md": text("old", "metadata:\n  kitbag-needs: node >=99\n"),
    "toml/SKILL.md": text("toml"),
    "toml/kitbag.toml": '[needs]\nkitbag = ">=99"\nsystem = ["linux", "macos", "windows"]\n',
    "code/SKILL.md": text("code"),
    "code/kitbag.toml": '[needs]\nnode = ">=99"\n',
    "code/skill.ts": 'throw new Error("it ran");\nexport default defineSkill({});\n',
    "wrong/SKILL.md": text("wrong"),
    "wrong/kitbag.toml": '[needs]\nsystem = ["plan9"]\n',
    "fits/SKILL.md": text("fits", "metadata:\n  kitbag-needs: node >=20, linux, macos, windows\n"),
  });

  const { reports } = await loadSkills({ directories: [folder] });

  const shown = reports.map(({ name, status, diagnostics }) => [name, status, ...diagnostics.map(({ code }) => code)]);
  expect(shown).toEqual([
    ["code", "skipped", "needs-unmet"],
    ["fits", "ok"],
    ["old", "skipped", "needs-unmet"],
    ["toml", "skipped", "needs-unmet"],
    ["wrong", "skipped", "manifest-invalid"],
  ]);
  expect(reports[2]?.diagnostics[0]?.message).toBe(`Needs Node >=99, and this is Node ${process.versions.node}`);
});

function messagesFor(needs: string): readonly string[] {
  const document = { kitbag: { needs }, file: "SKILL.md" };
  const facts = { document, scripts: [], diagnostics: [], scriptDiagnostics: [] } as unknown as Parameters<
    typeof checkNeeds
  >[0];
  return checkNeeds(facts, machine).map(({ message }) => message);
}

function text(name: string, more = ""): string {
  return `---\nname: ${name}\ndescription: Does a thing. Use it when the thing is to be done.\n${more}---\n\nText.\n`;
}
