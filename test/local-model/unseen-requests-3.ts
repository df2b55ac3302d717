import { viaSkill, type RequestCase } from "./request.ts";

/** A third lot over the example skills, written down before the model was tried on any of them, after it had learned from the others. */
export const lastSkillRequests: readonly RequestCase[] = [
  {
    ask: "sha-256 hash of the word hello",
    calls: viaSkill("checksums", "digest", { text: "hello", algorithm: "sha256" }),
  },
  {
    ask: "can you tell me whether 9783161484100 is a correct ISBN",
    calls: viaSkill("checksums", "check-number", { number: "9783161484100", kind: "isbn" }),
  },
  {
    ask: "What files does release-1.2.tgz contain?",
    calls: viaSkill("archive-inspect", "archive-list", { archive: "release-1.2.tgz" }),
  },
  {
    ask: "print LICENSE.txt from vendor/lib.zip",
    calls: viaSkill("archive-inspect", "archive-show", { archive: "vendor/lib.zip", entry: "LICENSE.txt" }),
  },
  {
    ask: "how many orders per country are in orders.csv",
    calls: viaSkill("csv-report", "group_by", { by: ["country"], file: "orders.csv" }),
  },
  { ask: "What columns does weather.csv have?", calls: viaSkill("csv-report", "summarize", { file: "weather.csv" }) },
  {
    ask: "Add up the column revenue in finance.csv, grouped by quarter, as markdown",
    calls: viaSkill("csv-report", "group_by", {
      by: ["quarter"],
      file: "finance.csv",
      sum: ["revenue"],
      format: "markdown",
    }),
  },
  {
    ask: "who worked on this repository since 2026-10-01?",
    calls: viaSkill("git-summary", "summary", { since: "2026-10-01" }),
  },
  {
    ask: "I need the 10 hottest files of the git repo ../api",
    calls: viaSkill("git-summary", "hotspots", { repo: "../api", limit: 10 }),
  },
  {
    ask: "show items[0].price from cart.json",
    calls: viaSkill("json-query", "query", { file: "cart.json", path: "items[0].price" }),
  },
  {
    ask: "summarize the structure of package-lock.json with a depth of 2",
    calls: viaSkill("json-query", "shape", { file: "package-lock.json", depth: 2 }),
  },
  {
    ask: "Find all files without a copyright notice in packages/core",
    calls: viaSkill("license-headers", "check-headers", { root: "packages/core" }),
  },
  { ask: "generate a TOC for docs/manual.md", calls: viaSkill("markdown-toc", "toc", { file: "docs/manual.md" }) },
  {
    ask: "What does page 2-2 of slides.pdf say?",
    calls: viaSkill("pdf-text", "extract_text", { pdf: "slides.pdf", pages: "2-2" }),
  },
  { ask: "what is still to do on my task list?", calls: viaSkill("task-list", "list", {}) },
  {
    ask: "Please remember these tasks:\n- buy paint\n- call Ann",
    calls: [
      ["activate_skill", { name: "task-list" }],
      ["task-list__add", { text: "buy paint" }],
      ["task-list__add", { text: "call Ann" }],
    ],
  },
  { ask: "Is letter.txt hard to read?", calls: viaSkill("text-stats", "stats-readability", { file: "letter.txt" }) },
  {
    ask: ["How many words does intro.md have?", "what about outro.md?"],
    calls: [
      ...viaSkill("text-stats", "stats-count", { file: "intro.md" }),
      ["text-stats__stats-count", { file: "outro.md" }],
    ],
  },
];

/** A third lot over the toolbox. */
export const lastToolboxRequests: readonly RequestCase[] = [
  { ask: "what's 7 times 8", calls: [["calculate", { expression: "7 * 8" }]] },
  { ask: "please compute sqrt(16) + 2", calls: [["calculate", { expression: "sqrt(16) + 2" }]] },
  { ask: "100 pounds to kilograms", calls: [["convert_units", { value: 100, from: "pounds", to: "kilograms" }]] },
  { ask: "Reverse 'desserts'", calls: [["transform_text", { text: "desserts", operation: "reverse" }]] },
  {
    ask: 'Replace "cat" with "dog" in the text "the cat sat"',
    calls: [["replace_text", { text: "the cat sat", find: "cat", replacement: "dog" }]],
  },
  {
    ask: "what date is it 90 days after 2026-01-15?",
    calls: [["add_to_date", { date: "2026-01-15", amount: 90, unit: "days" }]],
  },
  { ask: "grab the page at http://example.org/news", calls: [["http_get", { url: "http://example.org/news" }]] },
  { ask: 'Save the text "done" to status.txt', calls: [["write_file", { path: "status.txt", content: "done" }]] },
  { ask: "what's in the folder src/cli?", calls: [["list_files", { folder: "src/cli" }]] },
  { ask: "erase tmp/cache.bin please", calls: [["delete_file", { path: "tmp/cache.bin" }]] },
  { ask: "google for best pizza in Naples", calls: [] },
  { ask: "What's the temperature in Helsinki?", calls: [["get_weather", { city: "Helsinki" }]] },
  {
    ask: "put dentist appointment on 3 December 2026 in my calendar",
    calls: [["create_event", { title: "dentist appointment", date: "2026-12-03" }]],
  },
  {
    ask: "Remind me to water the flowers on Friday",
    calls: [["todo_add", { title: "water the flowers", due: "2026-11-20" }]],
  },
  { ask: "I finished item 12", calls: [["todo_complete", { id: 12 }]] },
  { ask: "password with 16 characters", calls: [["generate_password", { length: 16 }]] },
  {
    ask: "how do you say thank you in Japanese? translate it",
    calls: [["translate", { text: "thank you", language: "Japanese" }]],
  },
  { ask: "largest of 3, 99 and 12", calls: [["statistics", { numbers: [3, 99, 12], measure: "max" }]] },
];
