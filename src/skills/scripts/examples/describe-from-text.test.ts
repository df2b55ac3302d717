import { expect, test } from "vitest";

import { describeFromText } from "./describe-from-text.ts";

const said: readonly (readonly [text: string, path: string, description: string])[] = [
  [
    "Run `python scripts/size.py photo.png` for the size. `python scripts/meta.py config.yaml` reads its settings.",
    "scripts/size.py",
    "Run size.py for the size.",
  ],
  [
    "Run `python scripts/size.py photo.png` for the size. `python scripts/meta.py config.yaml` reads its settings.",
    "scripts/meta.py",
    "Reads its settings.",
  ],
  [
    "Search with `bash bin/find.sh <word>`, count words with `node bin/count.js <file>`.",
    "bin/count.js",
    "Count words with count.js.",
  ],
  ["Search with `bash bin/find.sh <word>`, count words with `node bin/count.js <file>`.", "bin/find.sh", ""],
  ["Then run `scripts/check.py form.pdf` to check the form.", "scripts/check.py", "Check the form."],
  ["Run scripts/check.py to check the form.", "scripts/check.py", "Check the form."],
  [
    "`scripts/chart.py` draws a chart and saves it to `chart.txt`.",
    "scripts/chart.py",
    "Draws a chart and saves it to chart.txt.",
  ],
  ["Use `scripts/resize.py` to make a picture smaller.", "scripts/size.py", ""],
  ["See `scripts/size.py` for details.", "scripts/size.py", ""],
  ["- `scripts/a.py`: finds what is missing", "scripts/a.py", "finds what is missing"],
  ["| what | how |\n|---|---|\n| make a slug | `python3 scripts/slug.py` |", "scripts/slug.py", "make a slug"],
  [
    "Before filling, check your boxes for errors:\n`python scripts/boxes.py fields.json`",
    "scripts/boxes.py",
    "Before filling, check your boxes for errors",
  ],
  ["Run `python scripts/clean.py in.csv` to clean.\n\n```bash\nscripts/pick.py in.csv\n```", "scripts/pick.py", ""],
  [
    "Made with Node.js, this makes a slug:\n\n```bash\nscripts/slug.js x\n```",
    "scripts/slug.js",
    "Made with Node.js, this makes a slug",
  ],
  ["Run the script:\n`python scripts/boxes.py fields.json`", "scripts/boxes.py", ""],
];

test.for(said)("describeFromText() reads %j for %s as %j", ([text, path, description]) => {
  expect(describeFromText(text, path)).toBe(description);
});

test("describeFromText() reads a long line that begins many code spans in little time", () => {
  const line = `${"`a. ".repeat(500)}scripts/a.py ${"`".repeat(999)}\n`;

  expect(describeFromText(line.repeat(2000), "scripts/a.py")).toEqual(expect.any(String));
});
