import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import type { Question } from "./question.ts";
import { writeSkillTree } from "./skill-tree.ts";

// Two peers were looked at. openskills 1.5.0 exports nothing: its command reads the description with a regular expression and
// checks nothing. @skillkit/core 1.24.0 reads and checks the front matter with "yaml" and "zod", but 757 MB of other packages are
// installed with it. What it does to a folder is what the contender "yaml and fs alone" does.

const root = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const plain = join(folder, "plain");
const withScripts = join(folder, "with-scripts");
const cacheFolder = join(folder, "cache");
/** Files in it are saved, so that it is a tree of its own. */
const watched = join(folder, "watched");
/** How many are in each tree. */
const counts = { plain: 3000, withScripts: 1000 };

const question: Question = {
  title: "What does loading skills cost?",
  text: "Trees that look like the public skills: found, every file hashed, each SKILL.md read and checked, scripts turned into tools. One has 3,000 skills without scripts, the other 1,000 skills with 2,000 scripts. In a new process each time, from the call to its answer; CPU time, that of the helpers that read Python included. They work beside it: where there is a second core, the answer comes earlier than that, as the lines say that are about it. Warm: what was read is remembered in a file, by digest, and no file has changed. Saves: from the writing of a file until a program that follows a tree of 1,000 skills with 2,000 scripts has the new version, elapsed time; the first one after it started, and the sixth.",
  unit: "ms",
  rounds: 7,
  targets: [
    { text: "3,000 skills", unit: "ms", limit: 1000, value: (cost) => cost("3,000 skills") },
    {
      text: "2,000 scripts, cold",
      unit: "ms",
      limit: 3000,
      value: (cost) => cost("2,000 scripts, cold, until the answer"),
    },
    {
      text: "2,000 scripts, warm",
      unit: "ms",
      limit: 300,
      value: (cost) => cost("2,000 scripts, warm, until the answer"),
    },
    {
      text: "from a first save until it is live",
      unit: "ms",
      limit: 200,
      value: (cost) => Math.max(...saves.filter(({ count }) => count === 1).map(({ name }) => cost(name))),
    },
    {
      text: "from a later save until it is live",
      unit: "ms",
      limit: 200,
      value: (cost) => cost("later save of a script"),
    },
  ],
  contenders: async () => {
    writeSkillTree(plain, { skills: counts.plain, scripts: 0 });
    writeSkillTree(withScripts, { skills: counts.withScripts, scripts: 2000 });
    writeSkillTree(watched, { skills: counts.withScripts, scripts: 2000 });
    // What was written just before is always read: clocks of file systems are coarse.
    await wait(2500);
    loadSkills({ directories: [withScripts], cacheFolder });
    loadSkills({ directories: [watched], cacheFolder });
    return [
      { name: "3,000 skills, yaml and fs alone", measure: () => measure(readAlone, plain, counts.plain).cpuMs },
      { name: "3,000 skills", measure: () => loadSkills({ directories: [plain] }, counts.plain) },
      { name: "2,000 scripts, cold", measure: () => loadSkills({ directories: [withScripts] }) },
      { name: "2,000 scripts, warm", measure: () => loadSkills({ directories: [withScripts], cacheFolder }) },
      {
        name: "2,000 scripts, cold, until the answer",
        measure: () => measure(loadAll, JSON.stringify({ directories: [withScripts] }), counts.withScripts).elapsedMs,
      },
      {
        name: "2,000 scripts, warm, until the answer",
        measure: () =>
          measure(loadAll, JSON.stringify({ directories: [withScripts], cacheFolder }), counts.withScripts).elapsedMs,
      },
      ...saves.map((save) => ({ name: save.name, measure: () => measureSave(save) })),
    ];
  },
};

/** A file that is saved so many times, one after the other; the last one counts. */
interface Save {
  readonly name: string;
  readonly file: string;
  readonly count: number;
}

const saves: readonly Save[] = [
  { name: "first save of a script", file: "scripts/convert_0.py", count: 1 },
  { name: "first save of SKILL.md", file: "SKILL.md", count: 1 },
  { name: "first save of a manifest", file: "kitbag.toml", count: 1 },
  { name: "later save of a script", file: "scripts/convert_0.py", count: 6 },
];

export default question;

/** What the least reader does: find the file, cut out the front matter, parse it, look at the two fields. */
const readAlone = `
  import { readdirSync, readFileSync } from "node:fs";
  import { parse } from "yaml";
  const work = async (folder) => {
    let read = 0;
    for (const name of readdirSync(folder)) {
      const text = readFileSync(folder + "/" + name + "/SKILL.md", "utf8");
      const fields = parse(/^---\\s*\\n([\\s\\S]*?)\\n---/u.exec(text)[1]);
      if (fields.name === name && typeof fields.description === "string") read += 1;
    }
    return read;
  };`;

const loadAll = `
  import { loadSkills } from "kitbag/skills";
  const work = async (options) => (await loadSkills(JSON.parse(options))).reports.filter((report) => report.skill).length;`;

interface LoadOptions {
  readonly directories: readonly string[];
  readonly cacheFolder?: string;
}

function loadSkills(options: LoadOptions, expected = counts.withScripts): number {
  return measure(loadAll, JSON.stringify(options), expected).cpuMs;
}

/** What a piece of work took: CPU time of its process and of those that it started, and the time until it was done. */
interface Cost {
  readonly cpuMs: number;
  readonly elapsedMs: number;
}

/** Follows the tree, saves the file each time that the version before is live, and tells how long that took at last. */
const saveAndWait = `
  import { appendFileSync } from "node:fs";
  import { createWorkspace } from "kitbag";
  import { createSkillSource, followSkills } from "kitbag/skills";
  const { tree, cacheFolder, file, count } = JSON.parse(process.argv[1]);
  const name = "skill-00000";
  const workspace = createWorkspace();
  const followed = await followSkills(workspace, createSkillSource({ directories: [tree], cacheFolder }));
  await workspace.activateSkill(name);
  // Somebody who starts a program saves something a moment later.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  let elapsedMs;
  for (let saved = 0; saved < count; saved += 1) {
    const before = workspace.getSkill(name);
    const live = new Promise((resolve) => {
      followed.onReload(() => workspace.getSkill(name) !== before && resolve(performance.now()));
    });
    const start = performance.now();
    appendFileSync(tree + "/" + name + "/" + file, "\\n# saved");
    elapsedMs = (await live) - start;
  }
  await followed.close();
  console.log(JSON.stringify({ elapsedMs }));`;

function measureSave({ file, count }: Save): number {
  const argument = JSON.stringify({ tree: watched, cacheFolder, file, count });
  return (runProgram(saveAndWait, argument) as Pick<Cost, "elapsedMs">).elapsedMs;
}

/** Does the work in a new process. */
function measure(work: string, argument: string, expected: number): Cost {
  const program = `${work}
    const { readFileSync: readText } = await import("node:fs");
    // The time of children that have ended, in hundredths of a second; only Linux tells.
    const childMs = () => {
      if (process.platform !== "linux") return 0;
      const fields = readText("/proc/self/stat", "utf8").split(") ")[1].split(" ");
      return (Number(fields[13]) + Number(fields[14])) * 10;
    };
    const start = performance.now();
    const before = process.cpuUsage();
    const count = await work(process.argv[1]);
    const { user, system } = process.cpuUsage(before);
    const elapsedMs = performance.now() - start;
    // Until the system has counted the children.
    await new Promise((resolve) => setTimeout(resolve, 300));
    console.log(JSON.stringify({ cpuMs: (user + system) / 1000 + childMs(), elapsedMs, count }));`;
  const { count, ...cost } = runProgram(program, argument) as Cost & { readonly count: number };
  if (count !== expected) throw new Error(`Cannot trust the measurement: ${count} of ${expected} skills were loaded`);
  return cost;
}

/** What a program in a new process prints. */
function runProgram(program: string, argument: string): unknown {
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program, argument], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Cannot measure: the program ended with ${status}`);
  return JSON.parse(stdout);
}
