import type { RequestCase } from "./request.ts";

/** Requests over tools like those of any toolbox. */
export const toolboxRequests: readonly RequestCase[] = [
  { ask: "What is 12 * (3 + 4)?", calls: [["calculate", { expression: "12 * (3 + 4)" }]] },
  { ask: "calculate 12 plus 30", calls: [["calculate", { expression: "12 + 30" }]] },
  { ask: "What is 15% of 240?", calls: [["calculate", { expression: "15 / 100 * 240" }]] },
  { ask: "Convert 10 km to miles", calls: [["convert_units", { value: 10, from: "km", to: "miles" }]] },
  { ask: "How many pounds is 3.5 kg?", calls: [["convert_units", { value: 3.5, from: "kg", to: "pounds" }]] },
  {
    ask: "convert twenty degrees from celsius to fahrenheit",
    calls: [["convert_units", { value: 20, from: "celsius", to: "fahrenheit" }]],
  },
  { ask: "make 'hello world' uppercase", calls: [["transform_text", { text: "hello world", operation: "uppercase" }]] },
  { ask: 'Reverse the text "stressed"', calls: [["transform_text", { text: "stressed", operation: "reverse" }]] },
  { ask: "encode secret word as base64", calls: [["encode_base64", { text: "secret word" }]] },
  {
    ask: "How many days are between 2026-01-01 and 2026-02-01?",
    calls: [["date_difference", { start: "2026-01-01", end: "2026-02-01" }]],
  },
  {
    ask: "Which date is 3 weeks after 3 May 2026?",
    calls: [["add_to_date", { date: "2026-05-03", amount: 3, unit: "weeks" }]],
  },
  { ask: "add 10 days to May 3rd, 2026", calls: [["add_to_date", { date: "2026-05-03", amount: 10, unit: "days" }]] },
  { ask: "Fetch https://example.com/index.html", calls: [["http_get", { url: "https://example.com/index.html" }]] },
  {
    ask: "get http://example.com/api with a timeout of 5 seconds",
    calls: [["http_get", { url: "http://example.com/api", timeoutMs: 5000 }]],
  },
  { ask: "Read README.md", calls: [["read_file", { path: "README.md" }]] },
  { ask: "open the file src/index.ts", calls: [["read_file", { path: "src/index.ts" }]] },
  { ask: 'Write "hello" into greeting.txt', calls: [["write_file", { path: "greeting.txt", content: "hello" }]] },
  {
    ask: "append 'one more line' to notes.txt",
    calls: [["write_file", { path: "notes.txt", content: "one more line", append: true }]],
  },
  {
    ask: "List the files in src/models recursively",
    calls: [["list_files", { folder: "src/models", recursive: true }]],
  },
  { ask: "which files are in docs/?", calls: [["list_files", { folder: "docs/" }]] },
  { ask: "Delete old.log", calls: [["delete_file", { path: "old.log" }]] },
  { ask: "please remove the file tmp/a.txt", calls: [["delete_file", { path: "tmp/a.txt" }]] },
  { ask: 'Search the files for "createWorkspace"', calls: [["search_files", { query: "createWorkspace" }]] },
  { ask: "add buy milk to my to-do list", calls: [["todo_add", { title: "buy milk" }]] },
  { ask: "Remind me to call mum tomorrow", calls: [["todo_add", { title: "call mum", due: "2026-11-17" }]] },
  {
    ask: "Add a todo with high priority: pay the rent",
    calls: [["todo_add", { title: "pay the rent", priority: "high" }]],
  },
  { ask: "show my to-do list", calls: [["todo_list", {}]] },
  { ask: "What have I done on my to-do list? status: done", calls: [["todo_list", { status: "done" }]] },
  { ask: "mark item 3 as done", calls: [["todo_complete", { id: 3 }]] },
  { ask: "search the web for cats and dogs", calls: [["web_search", { query: "cats and dogs" }]] },
  {
    ask: "Search the web for typescript releases, limit 5",
    calls: [["web_search", { query: "typescript releases", limit: 5 }]],
  },
  { ask: "What is the weather in Paris?", calls: [["get_weather", { city: "Paris" }]] },
  {
    ask: "weather forecast for New York for 5 days in fahrenheit",
    calls: [["get_weather", { city: "New York", days: 5, unit: "fahrenheit" }]],
  },
  { ask: "pick a random number between 1 and 100", calls: [["random_number", { min: 1, max: 100 }]] },
  {
    ask: "Generate a password of 32 characters with symbols",
    calls: [["generate_password", { length: 32, symbols: true }]],
  },
  { ask: "make me a password without symbols", calls: [["generate_password", { symbols: false }]] },
  { ask: "Translate good morning to French", calls: [["translate", { text: "good morning", language: "French" }]] },
  {
    ask: 'translate "where is the station" into Italian',
    calls: [["translate", { text: "where is the station", language: "Italian" }]],
  },
  { ask: "Set a timer for 5 minutes", calls: [["set_timer", { seconds: 300 }]] },
  { ask: "set a timer for half an hour", calls: [["set_timer", { seconds: 1800 }]] },
  { ask: "What is the mean of 3, 5 and 10?", calls: [["statistics", { numbers: [3, 5, 10], measure: "mean" }]] },
  { ask: "sum these numbers: 1, 2, 3.5", calls: [["statistics", { numbers: [1, 2, 3.5], measure: "sum" }]] },
  {
    ask: "Resize photo.png to 800 by 600 pixels",
    calls: [["resize_image", { path: "photo.png", width: 800, height: 600 }]],
  },
  {
    ask: 'send_email {"to": "kim@example.com", "subject": "Hi", "body": "See you"}',
    calls: [["send_email", { to: "kim@example.com", subject: "Hi", body: "See you" }]],
  },
  {
    ask: 'Send an email to kim@example.com with subject "Lunch" and body "At noon?"',
    calls: [["send_email", { to: "kim@example.com", subject: "Lunch", body: "At noon?" }]],
  },
  // questions
  {
    ask: ["Send an email to kim@example.com", "subject: Lunch, body: At noon?"],
    calls: [["send_email", { to: "kim@example.com", subject: "Lunch", body: "At noon?" }]],
  },
  { ask: ["What is the weather?", "Lisbon"], calls: [["get_weather", { city: "Lisbon" }]] },
  { ask: ["Delete a file", "never mind"], calls: [], says: /All right/u },
  {
    ask: ["What is the weather in Rome?", "and in Milan?"],
    calls: [
      ["get_weather", { city: "Rome" }],
      ["get_weather", { city: "Milan" }],
    ],
  },
  // sequences
  {
    ask: "Read a.txt then translate it to German",
    calls: [
      ["read_file", { path: "a.txt" }],
      ["translate", { text: "the words of the file", language: "German" }],
    ],
  },
  {
    ask: "Calculate 6 * 7, and then convert it from km to miles",
    calls: [
      ["calculate", { expression: "6 * 7" }],
      ["convert_units", { value: 42, from: "km", to: "miles" }],
    ],
  },
  {
    ask: "Fetch https://example.com/ and write the result to page.html",
    calls: [
      ["http_get", { url: "https://example.com/" }],
      ["write_file", { path: "page.html", content: "<p>a page</p>" }],
    ],
  },
  {
    ask: "Read a.txt and b.txt",
    calls: [
      ["read_file", { path: "a.txt" }],
      ["read_file", { path: "b.txt" }],
    ],
  },
  // dangerous things are not guessed
  { ask: "I do not need old.log any more", calls: [] },
  { ask: "Do not delete anything, just list the files in src/", calls: [["list_files", { folder: "src/" }]] },
];
