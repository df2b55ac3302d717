import type { RequestCase } from "./request.ts";

/** Requests of a school and its office, written down before the model was tried on them. */
export const schoolRequests: readonly RequestCase[] = [
  { ask: "enroll Mia Wong in Pottery", calls: [["enroll_student", { student: "Mia Wong", course: "Pottery" }]] },
  {
    ask: 'please enroll Jon Hale in the course "Intro to Algebra"',
    calls: [["enroll_student", { student: "Jon Hale", course: "Intro to Algebra" }]],
  },
  { ask: "is Mia Wong enrolled in Pottery?", calls: [] },
  { ask: "what are Mia's grades in physics?", calls: [["get_grades", { student: "Mia", subject: "physics" }]] },
  { ask: "show the grades of Jon Hale", calls: [["get_grades", { student: "Jon Hale" }]] },
  { ask: "send the newsletter", calls: [], says: /`subject`/u },
  {
    ask: 'send the newsletter with subject "Open day" and body "Come and see us!"',
    calls: [["send_newsletter", { subject: "Open day", body: "Come and see us!" }]],
  },
  { ask: "when was the newsletter sent?", calls: [] },
  { ask: "find the budget spreadsheet in Google Drive", calls: [["drive_search", { query: "budget spreadsheet" }]] },
  { ask: "search my drive for meeting notes", calls: [["drive_search", { query: "meeting notes" }]] },
  {
    ask: 'share "Q3 Plan" with lea@example.com as editor',
    calls: [["share_document", { document: "Q3 Plan", email: "lea@example.com", role: "editor" }]],
  },
  { ask: 'who can see "Q3 Plan"?', calls: [] },
  {
    ask: "transfer 250 euros to DE89 3704 0044 0532 0130 00",
    calls: [["transfer_money", { iban: "DE89 3704 0044 0532 0130 00", amount: 250 }]],
  },
  { ask: "transfer 250 euros to my landlord", calls: [], says: /`iban`/u },
  { ask: "I might transfer 250 euros to DE89 3704 0044 0532 0130 00 later", calls: [] },
  { ask: "how much money is in my savings account?", calls: [["get_balance", { account: "savings" }]] },
  { ask: "what's my balance?", calls: [["get_balance", {}]] },
  {
    ask: "show the transactions of my checking account last month",
    calls: [["list_transactions", { account: "checking", from_date: "2026-10-01", to_date: "2026-10-31" }]],
  },
  { ask: "list my last 5 transactions", calls: [["list_transactions", { limit: 5 }]] },
  {
    ask: "transactions since 2026-11-10",
    calls: [["list_transactions", { from_date: "2026-11-10" }]],
  },
  {
    ask: "run SELECT count(*) FROM students on prod",
    calls: [["run_query", { sql: "SELECT count(*) FROM students", database: "prod" }]],
  },
  { ask: "back up the staging database", calls: [["create_backup", { database: "staging" }]] },
  { ask: "do we have a backup of prod?", calls: [] },
  { ask: 'commit with the message "Fix typo"', calls: [["git_commit", { message: "Fix typo" }]] },
  { ask: "commit everything: Add grading page", calls: [["git_commit", { message: "Add grading page", all: true }]] },
  { ask: "what changed between main and develop?", calls: [["git_diff", { base: "main", head: "develop" }]] },
  { ask: "diff main and feature/grades", calls: [["git_diff", { base: "main", head: "feature/grades" }]] },
  { ask: "deploy v2.0.1 to staging", calls: [["deploy", { version: "v2.0.1", environment: "staging" }]] },
  { ask: "deploy to production", calls: [], says: /`version`/u },
  { ask: "is v2.0.1 deployed to production?", calls: [] },
  { ask: "deploy v2.0.1 to production unless there are errors", calls: [] },
  { ask: "how high is the cpu load?", calls: [["get_metrics", { metric: "cpu" }]] },
  { ask: "show errors of the last 6 hours", calls: [["get_metrics", { metric: "errors", hours: 6 }]] },
  { ask: "close the blinds in the classroom", calls: [["open_blinds", { room: "classroom", position: 0 }]] },
  { ask: "set the blinds in the office to 40%", calls: [["open_blinds", { room: "office", position: 40 }]] },
  { ask: "water the greenhouse for 10 minutes", calls: [["water_plants", { zone: "greenhouse", minutes: 10 }]] },
  { ask: "water the plants in the back", calls: [], says: /`minutes`/u },
  { ask: "water the roof for 10 minutes", calls: [] },
  {
    ask: "find Thai restaurants near the station that are open now",
    calls: [["find_restaurants", { location: "station", cuisine: "Thai", open_now: true }]],
  },
  { ask: "where can I eat in Bath?", calls: [["find_restaurants", { location: "Bath" }]] },
  {
    ask: "how do I walk from Trafalgar Square to Hyde Park?",
    calls: [["get_directions", { origin: "Trafalgar Square", destination: "Hyde Park", mode: "walking" }]],
  },
  {
    ask: "cycling directions from home to school",
    calls: [["get_directions", { origin: "home", destination: "school", mode: "cycling" }]],
  },
  { ask: "what does ubiquitous mean?", calls: [["define_word", { word: "ubiquitous" }]] },
  { ask: "define entropy", calls: [["define_word", { word: "entropy" }]] },
  {
    ask: 'which language is "Hvor er toget?"',
    calls: [["detect_language", { text: "Hvor er toget?" }]],
  },
  { ask: "split thesis.pdf into pages 1-10", calls: [["split_pdf", { file: "thesis.pdf", pages: "1-10" }]] },
  { ask: "take pages 2-4 and 9 out of thesis.pdf", calls: [["split_pdf", { file: "thesis.pdf", pages: "2-4,9" }]] },
  { ask: "base64 of hello world", calls: [["encode_base64", { text: "hello world" }]] },
  { ask: "what is 15% of 240?", calls: [["calculate", { expression: "15 / 100 * 240" }]] },
  { ask: "what's (3 + 4) * 12", calls: [["calculate", { expression: "(3 + 4) * 12" }]] },
  {
    ask: "add 2 hoodies in size L to my cart",
    calls: [["add_to_cart", { product: "hoodies", quantity: 2, size: "L" }]],
  },
  { ask: "put a backpack in my shopping cart", calls: [["add_to_cart", { product: "backpack" }]] },
  { ask: "I like the hoodie", calls: [] },
  {
    ask: "where is my package 1Z999AA10123456784?",
    calls: [["track_package", { tracking_number: "1Z999AA10123456784" }]],
  },
  {
    ask: "show my balance, then transfer 20 euros to DE89 3704 0044 0532 0130 00",
    calls: [
      ["get_balance", {}],
      ["transfer_money", { iban: "DE89 3704 0044 0532 0130 00", amount: 20 }],
    ],
  },
  {
    ask: "add to my cart: 1. notebook 2. ruler 3. eraser",
    calls: [
      ["add_to_cart", { product: "notebook" }],
      ["add_to_cart", { product: "ruler" }],
      ["add_to_cart", { product: "eraser" }],
    ],
  },
  {
    ask: ["define entropy", "and enthalpy?"],
    calls: [
      ["define_word", { word: "entropy" }],
      ["define_word", { word: "enthalpy" }],
    ],
  },
  { ask: ["deploy v3.0.0", "never mind"], calls: [] },
  { ask: "order me a pizza", calls: [] },
  { ask: "good evening", calls: [] },
];
