import { viaSkill, type RequestCase } from "./request.ts";

/** Conversations that go on with what was asked before: all of them must be right. */
export const conversationRequests: readonly RequestCase[] = [
  {
    ask: ["what is in download.zip", "is it dangerous?", "show me package/README.md from it"],
    calls: [
      ...viaSkill("archive-inspect", "archive-list", { archive: "download.zip" }),
      ["archive-inspect__archive-check", { archive: "download.zip" }],
      ["archive-inspect__archive-show", { archive: "download.zip", entry: "package/README.md" }],
    ],
  },
  {
    ask: ["summarize sales.csv", "total amount per region", "only where status=paid", "as markdown"],
    calls: [
      ...viaSkill("csv-report", "summarize", { file: "sales.csv" }),
      ["csv-report__group_by", { file: "sales.csv", by: ["region"], sum: ["amount"] }],
      ["csv-report__group_by", { file: "sales.csv", by: ["region"], sum: ["amount"], where: ["status=paid"] }],
      [
        "csv-report__group_by",
        { file: "sales.csv", by: ["region"], sum: ["amount"], where: ["status=paid"], format: "markdown" },
      ],
    ],
  },
  {
    ask: ["how many pages has a.pdf", "read page 2", "and page 3"],
    calls: [
      ...viaSkill("pdf-text", "pdf_info", { pdf: "a.pdf" }),
      ["pdf-text__extract_text", { pdf: "a.pdf", pages: "2" }],
      ["pdf-text__extract_text", { pdf: "a.pdf", pages: "3" }],
    ],
  },
  {
    ask: ["shape of data.json", "get users[*].email", "and the first 5"],
    calls: [
      ...viaSkill("json-query", "shape", { file: "data.json" }),
      ["json-query__query", { file: "data.json", path: "users[*].email" }],
      ["json-query__query", { file: "data.json", path: "users[*].email", limit: 5 }],
    ],
  },
  {
    ask: [
      "count the words in a.md",
      "is it hard to read?",
      "which words are repeated most?",
      "what about b.md?",
      "top 3 only",
    ],
    calls: [
      ...viaSkill("text-stats", "stats-count", { file: "a.md" }),
      ["text-stats__stats-readability", { file: "a.md" }],
      ["text-stats__stats-words", { file: "a.md" }],
      ["text-stats__stats-words", { file: "b.md" }],
      ["text-stats__stats-words", { file: "b.md", top: 3 }],
    ],
  },
  {
    ask: ["add task buy milk", "add task call mom", "show tasks", "number 2 is done"],
    calls: [
      ...viaSkill("task-list", "add", { text: "buy milk" }),
      ["task-list__add", { text: "call mom" }],
      ["task-list__list", {}],
      ["task-list__finish", { number: "2" }],
    ],
  },
  {
    ask: ["toc of README.md", "write it into the file", "check the links"],
    calls: [
      ...viaSkill("markdown-toc", "toc", { file: "README.md" }),
      ["markdown-toc__toc", { file: "README.md", write: true }],
      ["markdown-toc__check-links", { file: ["README.md"] }],
    ],
  },
  {
    ask: ["sha256 of 'abc'", "and crc32?", "and of 'abd'?"],
    calls: [
      ...viaSkill("checksums", "digest", { text: "abc", algorithm: "sha256" }),
      ["checksums__digest", { text: "abc", algorithm: "crc32" }],
      ["checksums__digest", { text: "abd", algorithm: "crc32" }],
    ],
  },
];
