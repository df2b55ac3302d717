import { viaSkill, type RequestCase } from "./request.ts";

/** A second lot over the example skills, written down before the model was tried on any of them, after the first lot had been learned from. */
export const laterSkillRequests: readonly RequestCase[] = [
  {
    ask: "I got an archive called stuff.zip from a stranger, can I unpack it without risk?",
    calls: viaSkill("archive-inspect", "archive-check", { archive: "stuff.zip" }),
  },
  {
    ask: "read docs/README.md out of src.tar.gz",
    calls: viaSkill("archive-inspect", "archive-show", { archive: "src.tar.gz", entry: "docs/README.md" }),
  },
  { ask: "fnv1a of 'foobar' please", calls: viaSkill("checksums", "digest", { text: "foobar", algorithm: "fnv1a" }) },
  {
    ask: "I typed the barcode 4006381333931, is it mistyped?",
    calls: viaSkill("checksums", "check-number", { number: "4006381333931", kind: "ean" }),
  },
  {
    ask: "give me an overview of the columns in people.csv",
    calls: viaSkill("csv-report", "summarize", { file: "people.csv" }),
  },
  {
    ask: "Count the rows of visits.csv per country",
    calls: viaSkill("csv-report", "group_by", { by: ["country"], file: "visits.csv" }),
  },
  {
    ask: "For sales.csv I need the maximum of amount grouped by month",
    calls: viaSkill("csv-report", "group_by", { by: ["month"], file: "sales.csv", max: ["amount"] }),
  },
  {
    ask: "What has been going on in this repo since last week? Only commits by Linus",
    calls: viaSkill("git-summary", "summary", { since: "last week", author: "Linus" }),
  },
  { ask: "show me the commits between v1.0..v1.1", calls: viaSkill("git-summary", "commits", { range: "v1.0..v1.1" }) },
  {
    ask: "In settings.json, find every ..password and show one value a line",
    calls: viaSkill("json-query", "query", { file: "settings.json", path: "..password", format: "lines" }),
  },
  {
    ask: "What changed from old/config.json to new/config.json?",
    calls: viaSkill("json-query", "diff", { before: "old/config.json", after: "new/config.json" }),
  },
  {
    ask: 'Put an SPDX header with licence Apache-2.0 and holder "Example Inc" on all sources in lib',
    calls: viaSkill("license-headers", "add-headers", { license: "Apache-2.0", holder: "Example Inc", root: "lib" }),
  },
  {
    ask: "Is the table of contents in CONTRIBUTING.md up to date? Just check",
    calls: viaSkill("markdown-toc", "toc", { file: "CONTRIBUTING.md", check: true }),
  },
  {
    ask: "do the links in all of guide.md, faq.md and api.md still work?",
    calls: viaSkill("markdown-toc", "check-links", { file: ["guide.md", "faq.md", "api.md"] }),
  },
  {
    ask: "I'd like to quote from contract.pdf, page 4-6",
    calls: viaSkill("pdf-text", "extract_text", { pdf: "contract.pdf", pages: "4-6" }),
  },
  { ask: "new task: water the plants", calls: viaSkill("task-list", "add", { text: "water the plants" }) },
  {
    ask: "task 4 is finished, note: took two hours",
    calls: viaSkill("task-list", "finish", { number: "4", note: "took two hours" }),
  },
  {
    ask: "which words do I use too often in blog/post.md?",
    calls: viaSkill("text-stats", "stats-words", { file: "blog/post.md" }),
  },
  {
    ask: "rate the readability of manual.txt and list the 5 hardest sentences",
    calls: viaSkill("text-stats", "stats-readability", { file: "manual.txt", sentences: 5 }),
  },
  {
    ask: "First extract the text of a.pdf, then add a task: review a.pdf",
    calls: [
      ...viaSkill("pdf-text", "extract_text", { pdf: "a.pdf" }),
      ...viaSkill("task-list", "add", { text: "review a.pdf" }),
    ],
  },
];

/** A second lot, over tools that the model had never been tried on. */
export const otherToolRequests: readonly RequestCase[] = [
  {
    ask: 'Create an issue titled "Crash on start" with the labels bug and urgent',
    calls: [["github_create_issue", { title: "Crash on start", labels: ["bug", "urgent"] }]],
  },
  { ask: "show me the closed issues", calls: [["github_list_issues", { state: "closed" }]] },
  { ask: "turn the lights on in the kitchen", calls: [["setLights", { room: "kitchen", on: true }]] },
  { ask: "dim the bedroom lights to 30%", calls: [["setLights", { room: "bedroom", brightness: 30 }]] },
  { ask: "set the temperature to 21.5 degrees", calls: [["setThermostat", { temperature: 21.5 }]] },
  { ask: "play some jazz", calls: [["play_music", { query: "jazz" }]] },
  { ask: "Play Kind of Blue with shuffle", calls: [["play_music", { query: "Kind of Blue", shuffle: true }]] },
  {
    ask: "run this query: SELECT * FROM users WHERE age > 30",
    calls: [["sql_query", { sql: "SELECT * FROM users WHERE age > 30" }]],
  },
  { ask: "clean up the users table", calls: [] },
  {
    ask: "find a free slot of 45 minutes on 2026-12-03",
    calls: [["calendar_find", { day: "2026-12-03", minutes: 45 }]],
  },
  { ask: "what does AAPL trade at? I want the stock price", calls: [["stock_price", { symbol: "AAPL" }]] },
  {
    ask: "what does serendipity mean? look it up in the dictionary",
    calls: [["define_word", { word: "serendipity" }]],
  },
  { ask: "roll 3 dice with 20 sides", calls: [["roll_dice", { count: 3, sides: 20 }]] },
  {
    ask: "Split a bill of 84.60 between 4 people with a tip of 10%",
    calls: [["split_bill", { total: 84.6, people: 4, tipPercent: 10 }]],
  },
  {
    ask: "shorten https://example.com/a/very/long/path",
    calls: [["shorten_url", { url: "https://example.com/a/very/long/path" }]],
  },
  {
    ask: "save a contact: name: Kim Lee, email: kim@example.com",
    calls: [["create_contact", { name: "Kim Lee", email: "kim@example.com" }]],
  },
  { ask: "How much is 100 USD in EUR?", calls: [["get_exchange_rate", { amount: 100, from: "USD", to: "EUR" }]] },
  { ask: "run the tests, verbose", calls: [["run_tests", { verbose: true }]] },
  {
    ask: "book a table for 4 at Luigi's on 24 December 2026",
    calls: [["book_table", { restaurant: "Luigi's", date: "2026-12-24", guests: 4 }]],
  },
  { ask: 'How many words are in "the quick brown fox"?', calls: [["wordcount", { text: "the quick brown fox" }]] },
];
