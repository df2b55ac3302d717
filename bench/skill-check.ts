import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import type { Question } from "./question.ts";
import { writeSkillTree } from "./skill-tree.ts";

const root = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const tree = join(folder, "skills");
/** As many as the public repositories have that were looked at, with as many scripts. */
const count = 13_000;
const scripts = 4091;

const question: Question = {
  title: "What does `kitbag check` of very many skills cost?",
  text: "A tree of 13,000 skills with 4,091 scripts in Python, shell and JavaScript, as the public repositories have: every file is read, hashed and scanned, scripts become tools, skills are held against each other. CPU time of the command for one skill, that of its helpers included, and the most memory that it had resident. Cold: nothing is remembered. Warm: what was read is remembered by digest. One skill: the command for one folder while the cache holds all of them.",
  unit: "ms",
  rounds: 1,
  targets: [
    { text: "a skill, cold", unit: "ms", limit: 3, value: (cost) => cost("a skill, cold") },
    { text: "a skill, warm", unit: "ms", limit: 1, value: (cost) => cost("a skill, warm") },
    { text: "resident, cold", unit: "MB", limit: 400, value: (cost) => cost("resident in MB, cold") },
    { text: "resident, warm", unit: "MB", limit: 400, value: (cost) => cost("resident in MB, warm") },
  ],
  contenders() {
    writeSkillTree(tree, { skills: count, scripts, sections: 26 });
    const answers = new Map<string, Usage>();
    const once = (name: string, path: string): Usage => {
      const usage = answers.get(name) ?? check(path);
      answers.set(name, usage);
      return usage;
    };
    return Promise.resolve([
      { name: "a skill, cold", measure: () => once("cold", tree).cpuMs / count },
      { name: "a skill, warm", measure: () => once("warm", tree).cpuMs / count },
      { name: "resident in MB, cold", measure: () => once("cold", tree).residentMb },
      { name: "resident in MB, warm", measure: () => once("warm", tree).residentMb },
      { name: "one skill", measure: () => once("one", join(tree, "skill-00000")).cpuMs },
      { name: "resident in MB, one skill", measure: () => once("one", join(tree, "skill-00000")).residentMb },
    ]);
  },
};

export default question;

interface Usage {
  readonly cpuMs: number;
  readonly residentMb: number;
}

/** Runs the command in a process of its own. The program that measures has no other child. */
function check(path: string): Usage {
  const command = [process.execPath, join(root, "dist/cli/main.js"), "check", path];
  const { status, stdout } = spawnSync("python3", ["-c", measureInPython, JSON.stringify(command)], {
    encoding: "utf8",
    env: { ...process.env, KITBAG_HOME: join(folder, "home") },
  });
  if (status !== 0) throw new Error("Cannot measure kitbag check");
  return JSON.parse(stdout) as Usage;
}

/** Node does not tell how much memory a child had. */
const measureInPython = `
import json, os, resource, subprocess, sys
status = subprocess.run(json.loads(sys.argv[1]), stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"cpuMs": (used.ru_utime + used.ru_stime) * 1000, "residentMb": used.ru_maxrss / 1024}))
sys.exit(0 if status in (0, 1) else 1)
`;
