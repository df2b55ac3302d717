import { viaSkill, type RequestCase } from "./request.ts";

/**
 * Requests over the example skills that were written down before the model was tried on any of them. They are not to be changed
 * when the model is: what they measure is how it does with what it has not seen.
 */
export const unseenSkillRequests: readonly RequestCase[] = [
  {
    ask: "What's inside backup.tar.gz?",
    calls: viaSkill("archive-inspect", "archive-list", { archive: "backup.tar.gz" }),
  },
  {
    ask: "Could you tell me the ten biggest entries of bundle.zip, sorted by size?",
    calls: viaSkill("archive-inspect", "archive-list", { archive: "bundle.zip", sort: "size", limit: 10 }),
  },
  {
    ask: 'Compute the CRC-32 of "Kitbag"',
    calls: viaSkill("checksums", "digest", { text: "Kitbag", algorithm: "crc32" }),
  },
  {
    ask: "Is the ISBN 978-3-16-148410-0 correct?",
    calls: viaSkill("checksums", "check-number", { number: "978-3-16-148410-0", kind: "isbn" }),
  },
  {
    ask: "Give me the average price per category from data/products.csv",
    calls: viaSkill("csv-report", "group_by", { by: ["category"], file: "data/products.csv", mean: ["price"] }),
  },
  {
    ask: "Which values are missing in survey.tsv?",
    calls: viaSkill("csv-report", "summarize", { file: "survey.tsv" }),
  },
  {
    ask: "Show the 5 files that changed most often since 2026-01-01",
    calls: viaSkill("git-summary", "hotspots", { since: "2026-01-01", limit: 5 }),
  },
  {
    ask: "What did Grace commit since yesterday?",
    calls: viaSkill("git-summary", "summary", { since: "yesterday", author: "Grace" }),
  },
  {
    ask: "What's the difference between config.old.json and config.new.json? Ignore version",
    calls: viaSkill("json-query", "diff", { before: "config.old.json", after: "config.new.json", ignore: ["version"] }),
  },
  { ask: "Which source files have no copyright header?", calls: viaSkill("license-headers", "check-headers", {}) },
  {
    ask: "Are there broken links in docs/intro.md?",
    calls: viaSkill("markdown-toc", "check-links", { file: ["docs/intro.md"] }),
  },
  { ask: "Who is the author of thesis.pdf?", calls: viaSkill("pdf-text", "pdf_info", { pdf: "thesis.pdf" }) },
  { ask: 'put "call the plumber" on my task list', calls: viaSkill("task-list", "add", { text: "call the plumber" }) },
  {
    ask: "Which phrases of three words does chapter1.txt repeat most?",
    calls: viaSkill("text-stats", "stats-words", { file: "chapter1.txt", phrase_length: 3 }),
  },
  {
    ask: "How long does it take to read speech.txt?",
    calls: viaSkill("text-stats", "stats-count", { file: "speech.txt" }),
  },
];

/** Requests over the toolbox, written down before the model was tried on any of them. */
export const unseenToolboxRequests: readonly RequestCase[] = [
  { ask: "how much is (17 + 5) * 3", calls: [["calculate", { expression: "(17 + 5) * 3" }]] },
  { ask: "What are 5 feet in centimetres?", calls: [["convert_units", { value: 5, from: "feet", to: "centimetres" }]] },
  {
    ask: 'Turn "Hello There" into lower case',
    calls: [["transform_text", { text: "Hello There", operation: "lowercase" }]],
  },
  {
    ask: "How many days are there from 1 January 2026 to 2026-03-01?",
    calls: [["date_difference", { start: "2026-01-01", end: "2026-03-01" }]],
  },
  {
    ask: "download https://example.org/data.json please, wait at most 30 seconds",
    calls: [["http_get", { url: "https://example.org/data.json", timeoutMs: 30_000 }]],
  },
  { ask: "Show me the contents of src/main.ts", calls: [["read_file", { path: "src/main.ts" }]] },
  { ask: 'Look for "TODO" in the files under src', calls: [["search_files", { query: "TODO", folder: "src" }]] },
  {
    ask: "I have to renew my passport by 2026-12-01, put that on my to-do list with high priority",
    calls: [["todo_add", { title: "renew my passport", due: "2026-12-01", priority: "high" }]],
  },
  { ask: "tick off item 7", calls: [["todo_complete", { id: 7 }]] },
  { ask: "Will it rain in Oslo over the next three days?", calls: [["get_weather", { city: "Oslo", days: 3 }]] },
  { ask: "Give me a random number from 1 to 6", calls: [["random_number", { min: 1, max: 6 }]] },
  { ask: "start a timer for 10 minutes", calls: [["set_timer", { seconds: 600 }]] },
  {
    ask: "What is the median of 4, 8, 15, 16, 23 and 42?",
    calls: [["statistics", { numbers: [4, 8, 15, 16, 23, 42], measure: "median" }]],
  },
  {
    ask: ["Translate this for me", "good night", "Spanish"],
    calls: [["translate", { text: "good night", language: "Spanish" }]],
  },
  {
    ask: "Read notes.txt and then encode it as base64",
    calls: [
      ["read_file", { path: "notes.txt" }],
      ["encode_base64", { text: "the words of the file" }],
    ],
  },
];
