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
const cacheFile = join(folder, "cache");
/** How many are in each tree. */
const counts = { plain: 3000, withScripts: 1000 };

const question: Question = {
  title: "What does loading skills cost?",
  text: "Trees that look like the public skills: found, every file hashed, each SKILL.md read and checked, scripts turned into tools. One has 3,000 skills without scripts, the other 1,000 skills with 2,000 scripts. In a new process each time, from the call to its answer; CPU time, that of the helpers that read Python included. They work beside it: where there is a second core, the answer comes earlier than that, which is the last line. Warm: what was read is remembered in a file, by digest, and no file has changed.",
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
    { text: "2,000 scripts, warm", unit: "ms", limit: 300, value: (cost) => cost("2,000 scripts, warm") },
  ],
  contenders: async () => {
    writeSkillTree(plain, { skills: counts.plain, scripts: 0 });
    writeSkillTree(withScripts, { skills: counts.withScripts, scripts: 2000 });
    // What was written just before is always read: clocks of file systems are coarse.
    await wait(2500);
    loadSkills({ directories: [withScripts], cacheFile });
    return [
      { name: "3,000 skills, yaml and fs alone", measure: () => measure(readAlone, plain, counts.plain).cpuMs },
      { name: "3,000 skills", measure: () => loadSkills({ directories: [plain] }, counts.plain) },
      { name: "2,000 scripts, cold", measure: () => loadSkills({ directories: [withScripts] }) },
      { name: "2,000 scripts, warm", measure: () => loadSkills({ directories: [withScripts], cacheFile }) },
      {
        name: "2,000 scripts, cold, until the answer",
        measure: () => measure(loadAll, JSON.stringify({ directories: [withScripts] }), counts.withScripts).elapsedMs,
      },
    ];
  },
};

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
  readonly cacheFile?: string;
}

function loadSkills(options: LoadOptions, expected = counts.withScripts): number {
  return measure(loadAll, JSON.stringify(options), expected).cpuMs;
}

/** What a piece of work took: CPU time of its process and of those that it started, and the time until it was done. */
interface Cost {
  readonly cpuMs: number;
  readonly elapsedMs: number;
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
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program, argument], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Cannot measure: the program ended with ${status}`);
  const { count, ...cost } = JSON.parse(stdout) as Cost & { readonly count: number };
  if (count !== expected) throw new Error(`Cannot trust the measurement: ${count} of ${expected} skills were loaded`);
  return cost;
}
