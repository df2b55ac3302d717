import { expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { writeFolder } from "../../../test/support/run-script.ts";
import { loadSkills } from "./load-skills.ts";
import { findNeeds, toOffer, type SkillNeed } from "./find-needs.ts";

const script = `"""Reads https://docs.somewhere.dev first."""
import argparse, os, json, subprocess
import requests
from PIL import Image
from docx import Document
from google.cloud import storage
from scripts.helper import help_me
from helper import other
from lib.deep import more
from acme_internal_tools import secret
# https://comment.somewhere.dev
URL = "https://api.github.com/repos"
LOCAL = "http://192.168.1.1:8080/x"
SAMPLE = "https://example.com/x"
TOKEN = os.environ["GITHUB_TOKEN"] or os.environ.get("HOME")
print(open(argparse.ArgumentParser().parse_args().file).read())
config = json.load(open("config.json"))
own = open("references/table.json")
away = open("../../../etc/passwd")
whole = open("/etc/hosts")
open("out/report.md", "w").write("x")
open("plain.txt", "w").write("x")
subprocess.run(["git", "log"])
subprocess.run(["no-such-program-here"])
`;
const files = {
  "SKILL.md": "---\nname: report\ndescription: Makes a report\n---\nRun scripts/make.py\n",
  "scripts/make.py": script,
  "scripts/helper.py": "def help_me(): pass\n",
  "lib/deep.py": "def more(): pass\n",
  "references/table.json": "{}",
};

test("findNeeds() offers the files that a parameter names by its default, and none outside", async (context) => {
  needProgram(context, "python3");
  const parser = `import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--config", default="settings.ini", help="configuration file")
parser.add_argument("--input", default="/etc/hosts", help="input file")
parser.add_argument("--folder", default="INBOX", help="mail folder to read")
parser.add_argument("--source", default="src", help="folder with the sources")
print(open(parser.parse_args().config).read(), open(parser.parse_args().input).read())
`;
  const needs = await find({ "SKILL.md": files["SKILL.md"], "scripts/make.py": parser });

  expect(needs.map(show)).toEqual(["read ./settings.ini scripts/make.py:3", "read ./src scripts/make.py:6"]);
});

test("findNeeds() says with lines what scripts seem to need, and what of it a yes grants", async (context) => {
  needProgram(context, "python3");
  const needs = await find(files);

  expect(needs.filter(({ held }) => held === undefined).map(show)).toEqual([
    "network api.github.com scripts/make.py:12",
    "env GITHUB_TOKEN scripts/make.py:15",
    "run git scripts/make.py:23",
    "read ./config.json scripts/make.py:17",
    "write ./out/ scripts/make.py:21",
    "read . scripts/make.py:23",
    "packages pillow scripts/make.py:4",
    "packages python-docx scripts/make.py:5",
    "packages google-cloud-storage scripts/make.py:6",
    "packages requests scripts/make.py:3",
  ]);
  expect(needs.filter(({ held }) => held !== undefined).map(show)).toEqual([
    "network 192.168.1.1:8080 scripts/make.py:13",
    "run no-such-program-here scripts/make.py:24",
    "write plain.txt scripts/make.py:22",
    "packages acme-internal-tools scripts/make.py:10",
  ]);
});

test("findNeeds() never offers a module of the skill's own, or a name that only a stranger may have published", async (context) => {
  needProgram(context, "python3");
  const { packages = [] } = toOffer(await find(files));

  for (const name of ["scripts", "helper", "lib", "acme-internal-tools", "docx", "google", "PIL"])
    expect(packages).not.toContain(name);
});

test("findNeeds() offers no grant to write this folder: what a script makes is shown and kept", async (context) => {
  needProgram(context, "python3");
  const writer = { "SKILL.md": files["SKILL.md"], "scripts/make.py": 'open("plain.txt", "w").write("x")\n' };
  const heldOf = (needs: readonly SkillNeed[]): unknown => needs.find(({ what }) => what === "plain.txt")?.held;

  expect(heldOf(await find(writer))).toContain("kept if you say so");
  expect(heldOf(await find(files))).toContain("kept if you say so");
});

test("findNeeds() asks for no folder because a script opens what an argument names", async (context) => {
  needProgram(context, "python3");
  const needs = await find({
    ...files,
    "scripts/make.py": 'import sys\nprint(open(sys.argv[1]).read())\nopen(sys.argv[2], "w").write("x")\n',
  });

  expect(needs).toEqual([]);
});

test("findNeeds() takes an author at the word of a manifest, but for packages", async (context) => {
  needProgram(context, "python3");
  const needs = await find({ ...files, "kitbag.toml": '[permissions]\nread = ["./data"]\n' });

  expect(new Set(needs.map(({ kind }) => kind))).toEqual(new Set(["packages"]));
});

test("findNeeds() leaves out what is granted, and says which hosts of a network cannot be seen", async (context) => {
  needProgram(context, "python3");
  const [skill] = await load({
    ...files,
    "scripts/make.py": "import sys, requests\nprint(requests.get(sys.argv[1]))\n",
  });

  const needs = skill === undefined ? [] : findNeeds(skill, { packages: ["requests"] });

  expect(needs).toEqual([
    {
      kind: "network",
      what: "requests",
      at: "scripts/make.py:1",
      held: "which hosts it reaches cannot be seen: kitbag grant report --network HOST",
    },
  ]);
});

function show({ kind, what, at }: SkillNeed): string {
  return `${kind} ${what} ${at}`;
}

async function load(content: Readonly<Record<string, string>>): ReturnType<typeof toReports> {
  return toReports(writeFolder(content));
}

async function toReports(folder: string): Promise<Awaited<ReturnType<typeof loadSkills>>["reports"]> {
  return (await loadSkills({ directories: [folder] })).reports;
}

test.for<[path: string, code: string]>([
  ["scripts/a.py", 'import sys, os\nroot = sys.argv[1] if len(sys.argv) > 1 else "."\nprint(os.listdir(root))'],
  ["scripts/a.py", 'import glob\nprint(glob.glob("*.md"))'],
  [
    "scripts/a.py",
    'import sys, pathlib\npath = pathlib.Path(sys.argv[1])\nprint((path.parent / "part.md").read_text())',
  ],
  ["scripts/a.js", 'const dir = process.argv[2] || ".";\nconsole.log(require("fs").readdirSync(dir));'],
  ["scripts/a.sh", '# Usage: a.sh [dir]\nfind "${1:-.}" -name "*.md"'],
  ["scripts/a.sh", "# Usage: a.sh\ngit log --oneline"],
])("findNeeds() sees that %s reads the working directory", async ([path, code], context) => {
  needProgram(context, "python3");

  const needs = await find({ "SKILL.md": files["SKILL.md"], [path]: code });

  expect(needs.map(({ kind, what }) => `${kind} ${what}`)).toContain("read .");
});

test.for([
  "import sys, os\nprint(os.listdir(sys.argv[1]))",
  'import sys, pathlib\nprint(list(pathlib.Path(sys.argv[1]).glob("*.md")))',
  'import pathlib\nprint((pathlib.Path(__file__).parent / "table.md").read_text())',
  "import sys, os\nos.makedirs(os.path.dirname(sys.argv[2]), exist_ok=True)\nprint(open(sys.argv[1]).read())",
])("findNeeds() sees no need of the working directory in %j", async (code, context) => {
  needProgram(context, "python3");

  const needs = await find({ "SKILL.md": files["SKILL.md"], "scripts/a.py": code });

  expect(needs).toEqual([]);
});

async function find(content: Readonly<Record<string, string>>): Promise<readonly SkillNeed[]> {
  const [report] = await load(content);
  return report === undefined ? [] : findNeeds(report);
}
