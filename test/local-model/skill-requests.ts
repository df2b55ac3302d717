import { viaSkill, type RequestCase } from "./request.ts";

/** Requests over the skills that ship with Kitbag. All of them are closed at first. */
export const skillRequests: readonly RequestCase[] = [
  // archive-inspect
  {
    ask: "List what is in download.zip",
    calls: viaSkill("archive-inspect", "archive-list", { archive: "download.zip" }),
  },
  { ask: "Is bad.zip safe to unpack?", calls: viaSkill("archive-inspect", "archive-check", { archive: "bad.zip" }) },
  {
    ask: "check downloads/tool.jar for anything dangerous",
    calls: viaSkill("archive-inspect", "archive-check", { archive: "downloads/tool.jar" }),
  },
  {
    ask: "Show package.json from a.zip",
    calls: viaSkill("archive-inspect", "archive-show", { archive: "a.zip", entry: "package.json" }),
  },
  {
    ask: "List only the *.json entries of release.tar.gz",
    calls: viaSkill("archive-inspect", "archive-list", { archive: "release.tar.gz", match: "*.json" }),
  },
  {
    ask: "list the archive app.whl sorted by name, at most 20 entries",
    calls: viaSkill("archive-inspect", "archive-list", { archive: "app.whl", sort: "name", limit: 20 }),
  },
  // checksums
  {
    ask: "What is the sha256 of 'hello world'?",
    calls: viaSkill("checksums", "digest", { text: "hello world", algorithm: "sha256" }),
  },
  {
    ask: "Compute the Adler-32 checksum of the text: Wikipedia",
    calls: viaSkill("checksums", "digest", { text: "Wikipedia", algorithm: "adler32" }),
  },
  { ask: 'hash "abc"', calls: viaSkill("checksums", "digest", { text: "abc" }) },
  {
    ask: "Is 4539 1488 0343 6467 a valid card number?",
    calls: viaSkill("checksums", "check-number", { number: "4539 1488 0343 6467", kind: "card" }),
  },
  {
    ask: "Verify the IBAN DE89 3704 0044 0532 0130 00",
    calls: viaSkill("checksums", "check-number", { number: "DE89 3704 0044 0532 0130 00", kind: "iban" }),
  },
  {
    ask: "check number=4006381333931 kind=ean",
    calls: viaSkill("checksums", "check-number", { number: "4006381333931", kind: "ean" }),
  },
  // csv-report
  { ask: "Summarise sales.csv", calls: viaSkill("csv-report", "summarize", { file: "sales.csv" }) },
  {
    ask: "Summarize the table in data/sales.csv as markdown, top 3 values",
    calls: viaSkill("csv-report", "summarize", { file: "data/sales.csv", top: 3, format: "markdown" }),
  },
  {
    ask: "Sum amount by region in sales.csv",
    calls: viaSkill("csv-report", "group_by", { by: ["region"], file: "sales.csv", sum: ["amount"] }),
  },
  {
    ask: "group sales.csv by region and year, sum of amount, limit 10",
    calls: viaSkill("csv-report", "group_by", {
      by: ["region", "year"],
      file: "sales.csv",
      sum: ["amount"],
      limit: 10,
    }),
  },
  {
    ask: "In orders.csv, what is the total price per customer where status=paid?",
    calls: viaSkill("csv-report", "group_by", {
      by: ["customer"],
      file: "orders.csv",
      sum: ["price"],
      where: ["status=paid"],
    }),
  },
  {
    ask: ["Group the rows of sales.csv", "by region"],
    calls: viaSkill("csv-report", "group_by", { by: ["region"], file: "sales.csv" }),
  },
  // git-summary
  { ask: "Which files change most in this repository?", calls: viaSkill("git-summary", "hotspots", {}) },
  {
    ask: "Find the 15 hotspots of the repository since 6 months ago",
    calls: viaSkill("git-summary", "hotspots", { since: "6 months ago", limit: 15 }),
  },
  {
    ask: "Summarise the git history since 2026-05-01",
    calls: viaSkill("git-summary", "summary", { since: "2026-05-01" }),
  },
  {
    ask: "What happened in the repository since 2 weeks ago?",
    calls: viaSkill("git-summary", "summary", { since: "2 weeks ago" }),
  },
  { ask: "List the commits of main..HEAD", calls: viaSkill("git-summary", "commits", { range: "main..HEAD" }) },
  {
    ask: "list the last commits, limit 5, merges too",
    calls: viaSkill("git-summary", "commits", { limit: 5, merges: true }),
  },
  // json-query
  {
    ask: "Compare before.json and after.json",
    calls: viaSkill("json-query", "diff", { before: "before.json", after: "after.json" }),
  },
  {
    ask: "Find users[*].email in data.json",
    calls: viaSkill("json-query", "query", { file: "data.json", path: "users[*].email" }),
  },
  {
    ask: "query data.json --path ..error --format lines",
    calls: viaSkill("json-query", "query", { file: "data.json", path: "..error", format: "lines" }),
  },
  {
    ask: "Show the shape of data.json, 3 levels deep",
    calls: viaSkill("json-query", "shape", { file: "data.json", depth: 3 }),
  },
  { ask: "What keys does api/answer.json have?", calls: viaSkill("json-query", "shape", { file: "api/answer.json" }) },
  {
    ask: "diff the json files v1.json and v2.json, ignore updatedAt and meta",
    calls: viaSkill("json-query", "diff", { before: "v1.json", after: "v2.json", ignore: ["updatedAt", "meta"] }),
  },
  // license-headers
  {
    ask: "Add MIT license headers for Ada Lovelace",
    calls: viaSkill("license-headers", "add-headers", { license: "MIT", holder: "Ada Lovelace" }),
  },
  {
    ask: "add Apache-2.0 licence headers, holder: Example Ltd, dry run",
    calls: viaSkill("license-headers", "add-headers", { license: "Apache-2.0", holder: "Example Ltd", dry_run: true }),
  },
  {
    ask: "Which files lack a licence header in src?",
    calls: viaSkill("license-headers", "check-headers", { root: "src" }),
  },
  {
    ask: ["Add licence headers", "MIT", "Ada Lovelace"],
    calls: viaSkill("license-headers", "add-headers", { license: "MIT", holder: "Ada Lovelace" }),
  },
  // markdown-toc
  { ask: "Make a table of contents for README.md", calls: viaSkill("markdown-toc", "toc", { file: "README.md" }) },
  {
    ask: "Make a table of contents for README.md and write it into the file",
    calls: viaSkill("markdown-toc", "toc", { file: "README.md", write: true }),
  },
  {
    ask: "Check the links in README.md and docs/guide.md",
    calls: viaSkill("markdown-toc", "check-links", { file: ["README.md", "docs/guide.md"] }),
  },
  {
    ask: "table of contents of docs/guide.md with max level 2",
    calls: viaSkill("markdown-toc", "toc", { file: "docs/guide.md", max_level: 2 }),
  },
  // pdf-text
  {
    ask: "Extract the text of pages 1-3 of report.pdf",
    calls: viaSkill("pdf-text", "extract_text", { pdf: "report.pdf", pages: "1-3" }),
  },
  { ask: "How many pages does report.pdf have?", calls: viaSkill("pdf-text", "pdf_info", { pdf: "report.pdf" }) },
  {
    ask: "Get me the text of invoices/2026-01.pdf as json",
    calls: viaSkill("pdf-text", "extract_text", { pdf: "invoices/2026-01.pdf", format: "json" }),
  },
  {
    ask: ["extract text from a pdf", "report.pdf"],
    calls: viaSkill("pdf-text", "extract_text", { pdf: "report.pdf" }),
  },
  { ask: "is scan.pdf encrypted?", calls: viaSkill("pdf-text", "pdf_info", { pdf: "scan.pdf" }) },
  // task-list
  { ask: "Add a task: buy milk", calls: viaSkill("task-list", "add", { text: "buy milk" }) },
  { ask: "Mark task 2 as done", calls: viaSkill("task-list", "finish", { number: "2" }) },
  { ask: "What tasks are left?", calls: viaSkill("task-list", "list", {}) },
  { ask: "show the open tasks", calls: viaSkill("task-list", "list", { open: true }) },
  {
    ask: "Add these tasks: read the brief, write the code and test it",
    calls: [
      ["activate_skill", { name: "task-list" }],
      ["task-list__add", { text: "read the brief" }],
      ["task-list__add", { text: "write the code" }],
      ["task-list__add", { text: "test it" }],
    ],
  },
  // text-stats
  { ask: "How many words are in draft.md?", calls: viaSkill("text-stats", "stats-count", { file: "draft.md" }) },
  { ask: "Top 15 words in draft.md", calls: viaSkill("text-stats", "stats-words", { file: "draft.md", top: 15 }) },
  { ask: "how easy to read is essay.txt", calls: viaSkill("text-stats", "stats-readability", { file: "essay.txt" }) },
  { ask: "cuont the wrods in draft.txt", calls: viaSkill("text-stats", "stats-count", { file: "draft.txt" }) },
  // more than one thing
  {
    ask: "Count the words in a.md, then check its links",
    calls: [
      ...viaSkill("text-stats", "stats-count", { file: "a.md" }),
      ...viaSkill("markdown-toc", "check-links", { file: ["a.md"] }),
    ],
  },
  {
    ask: "1. Summarise sales.csv\n2. Add a task: send the report",
    calls: [
      ...viaSkill("csv-report", "summarize", { file: "sales.csv" }),
      ...viaSkill("task-list", "add", { text: "send the report" }),
    ],
  },
  {
    ask: ["Summarise sales.csv", "and now orders.csv"],
    calls: [
      ...viaSkill("csv-report", "summarize", { file: "sales.csv" }),
      ["csv-report__summarize", { file: "orders.csv" }],
    ],
  },
  {
    ask: "Write release notes for v1.0..v1.1",
    calls: [
      ["activate_skill", { name: "release-notes" }],
      ["git-summary__commits", { range: "v1.0..v1.1" }],
    ],
  },
  {
    ask: "list the tasks, then mark task 1 as done, then list them again",
    calls: [...viaSkill("task-list", "list", {}), ["task-list__finish", { number: "1" }], ["task-list__list", {}]],
  },
  {
    ask: "add task: write the docs, then test them",
    calls: viaSkill("task-list", "add", { text: "write the docs, then test them" }),
  },
  {
    ask: "Read the first 3 pages of report.pdf",
    calls: viaSkill("pdf-text", "extract_text", { pdf: "report.pdf", pages: "1-3" }),
  },
  { ask: "remove task 3", calls: [["activate_skill", { name: "task-list" }]], says: /not sure|no tool/u },
  {
    ask: ["count the words in 'a b c'", "draft.txt"],
    calls: viaSkill("text-stats", "stats-count", { file: "draft.txt" }),
  },
  // skills by name
  {
    ask: "open the skill pdf-text",
    calls: [["activate_skill", { name: "pdf-text" }]],
    says: /pdf-text is open.*extract_text/su,
  },
  // nothing to do
  { ask: "hello", calls: [], says: /^Hello!.*csv-report/su },
  { ask: "What can you do?", calls: [], says: /offline model.*task-list/su },
  { ask: "What is the capital of France?", calls: [], says: /offline model/u },
  { ask: "Book me a flight to Rome", calls: [], says: /offline model/u },
];
