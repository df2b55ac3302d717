import type { RequestCase } from "./request.ts";

/** Requests of a small company, written down before the model was tried on them. */
export const studioRequests: readonly RequestCase[] = [
  {
    ask: 'post "The build is green again" to #dev',
    calls: [["slack_post_message", { channel: "#dev", text: "The build is green again" }]],
  },
  {
    ask: "tell #general that lunch is ready",
    calls: [["slack_post_message", { channel: "#general", text: "lunch is ready" }]],
  },
  { ask: "post a message to #random", calls: [], says: /`text`/u },
  { ask: "show the last 20 messages in #support", calls: [["slack_get_history", { channel: "#support", limit: 20 }]] },
  { ask: "what was said in #dev recently?", calls: [["slack_get_history", { channel: "#dev" }]] },
  {
    ask: "list the closed pull requests of acme/webshop",
    calls: [["list_pull_requests", { owner: "acme", repo: "webshop", state: "closed" }]],
  },
  {
    ask: "which pull requests are open in acme/api?",
    calls: [["list_pull_requests", { owner: "acme", repo: "api", state: "open" }]],
  },
  {
    ask: "merge pull request 17 of acme/webshop with squash",
    calls: [["merge_pull_request", { owner: "acme", repo: "webshop", pull_number: 17, merge_method: "squash" }]],
  },
  { ask: "has pull request 17 been merged?", calls: [] },
  { ask: "what containers are running?", calls: [["list_containers", {}]] },
  { ask: "list all containers including stopped ones", calls: [["list_containers", { all: true }]] },
  { ask: "show me the logs of web-1", calls: [["container_logs", { container: "web-1" }]] },
  {
    ask: "last 200 lines of the logs from container postgres",
    calls: [["container_logs", { container: "postgres", tail: 200 }]],
  },
  {
    ask: "get the redis container logs of the last 15 minutes",
    calls: [["container_logs", { container: "redis", since_minutes: 15 }]],
  },
  { ask: "stop the container redis", calls: [["stop_container", { container: "redis" }]] },
  { ask: "is the redis container stopped?", calls: [["list_containers", {}]] },
  {
    ask: "add a row to the sheet Inventory: lamp, 4, 19.90",
    calls: [["append_row", { sheet: "Inventory", values: ["lamp", "4", "19.90"] }]],
  },
  { ask: "read B2:D8 from the sheet Budget", calls: [["read_range", { sheet: "Budget", range: "B2:D8" }]] },
  { ask: "what is in cells A1:A5 of Sales?", calls: [["read_range", { sheet: "Sales", range: "A1:A5" }]] },
  { ask: "play Kind of Blue", calls: [["play_track", { query: "Kind of Blue" }]] },
  {
    ask: "play some jazz on the kitchen speaker",
    calls: [["play_track", { query: "jazz", device: "kitchen" }]],
  },
  { ask: 'shuffle my playlist "Road Trip"', calls: [["play_track", { query: "Road Trip", shuffle: true }]] },
  { ask: "set the volume to 35%", calls: [["set_volume", { percent: 35 }]] },
  { ask: "turn it down to 20 percent please, the volume I mean", calls: [["set_volume", { percent: 20 }]] },
  { ask: "pause the music", calls: [["pause_playback", {}]] },
  { ask: "is the music paused?", calls: [] },
  { ask: "lock the front door", calls: [["lock_door", { door: "front", action: "lock" }]] },
  { ask: "unlock the garage", calls: [["lock_door", { door: "garage", action: "unlock" }]] },
  { ask: "did I lock the back door?", calls: [] },
  { ask: "lock the door", calls: [], says: /`door`/u },
  { ask: "how humid is it in the cellar?", calls: [["get_sensor", { kind: "humidity", room: "cellar" }]] },
  {
    ask: "what's the temperature in the nursery?",
    calls: [["get_sensor", { kind: "temperature", room: "nursery" }]],
  },
  {
    ask: "remind me to call the tax office tomorrow at 9 am",
    calls: [["create_reminder", { text: "call the tax office", due: "2026-11-17T09:00:00Z" }]],
  },
  { ask: "remind me to water the plants", calls: [["create_reminder", { text: "water the plants" }]] },
  {
    ask: "set a reminder for Friday at 17:30: submit the timesheet",
    calls: [["create_reminder", { text: "submit the timesheet", due: "2026-11-20T17:30:00Z" }]],
  },
  { ask: "which reminders are due before December 1?", calls: [["list_reminders", { due_before: "2026-12-01" }]] },
  { ask: "show my reminders", calls: [["list_reminders", {}]] },
  {
    ask: "convert 14:30 from Europe/Paris to America/New_York",
    calls: [["convert_time", { source_timezone: "Europe/Paris", time: "14:30", target_timezone: "America/New_York" }]],
  },
  {
    ask: "if it's 9 am in Asia/Tokyo, what time is it in Europe/Berlin?",
    calls: [["convert_time", { source_timezone: "Asia/Tokyo", time: "09:00", target_timezone: "Europe/Berlin" }]],
  },
  { ask: "look up black holes on Wikipedia", calls: [["search_wikipedia", { query: "black holes" }]] },
  {
    ask: "search wikipedia for Ada Lovelace, top 3 results",
    calls: [["search_wikipedia", { query: "Ada Lovelace", limit: 3 }]],
  },
  {
    ask: "I spent 42.50 on food yesterday",
    calls: [["add_expense", { amount: 42.5, category: "food", date: "2026-11-15" }]],
  },
  {
    ask: "record a travel expense of 120 CHF for the train to Basel",
    calls: [["add_expense", { amount: 120, currency: "CHF", category: "travel", note: "train to Basel" }]],
  },
  { ask: "add an expense of 30 euros", calls: [], says: /`category`/u },
  {
    ask: "how much did we spend on software this month?",
    calls: [["expense_report", { from: "2026-11-01", to: "2026-11-30", category: "software" }]],
  },
  {
    ask: "sum up the expenses from 2026-10-01 to 2026-10-31",
    calls: [["expense_report", { from: "2026-10-01", to: "2026-10-31" }]],
  },
  {
    ask: "change Tom Baker's email to tom@example.org",
    calls: [["update_contact", { name: "Tom Baker", email: "tom@example.org" }]],
  },
  {
    ask: "update the phone number of Lea Roth to +41 79 123 45 67",
    calls: [["update_contact", { name: "Lea Roth", phone: "+41 79 123 45 67" }]],
  },
  {
    ask: "merge intro.pdf, body.pdf and end.pdf into book.pdf",
    calls: [["merge_pdfs", { inputs: ["intro.pdf", "body.pdf", "end.pdf"], output: "book.pdf" }]],
  },
  {
    ask: 'replace "colour" with "color" in docs/style.md',
    calls: [["replace_in_file", { path: "docs/style.md", search: "colour", replacement: "color" }]],
  },
  {
    ask: "generate a 24 character password without symbols",
    calls: [["generate_password", { length: 24, symbols: false }]],
  },
  { ask: "I need a new password", calls: [["generate_password", {}]] },
  {
    ask: "what's my bmi if I'm 1.82 m and weigh 79 kg?",
    calls: [["calculate_bmi", { weight_kg: 79, height_cm: 182 }]],
  },
  {
    ask: "lock the back door and set the volume to 10%",
    calls: [
      ["lock_door", { door: "back", action: "lock" }],
      ["set_volume", { percent: 10 }],
    ],
  },
  {
    ask: "remind me: 1. water the plants 2. call mum 3. pay the rent",
    calls: [
      ["create_reminder", { text: "water the plants" }],
      ["create_reminder", { text: "call mum" }],
      ["create_reminder", { text: "pay the rent" }],
    ],
  },
  { ask: "stop the container redis if it uses too much memory", calls: [] },
  { ask: "play the piano for me and dance", calls: [] },
  { ask: "never unlock the front door", calls: [] },
  { ask: "who won the world cup in 1998?", calls: [] },
  { ask: "thanks a lot!", calls: [] },
];
