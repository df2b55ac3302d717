import type { RequestCase } from "./request.ts";

/** Requests of a theatre, written down before the model was tried on them. */
export const theatreRequests: readonly RequestCase[] = [
  {
    ask: "any operas in Vienna this week?",
    calls: [["search_events", { city: "Vienna", start_date: "2026-11-16", end_date: "2026-11-22", genre: "opera" }]],
  },
  { ask: "search for shows in Leeds", calls: [["search_events", { city: "Leeds" }]] },
  {
    ask: "which comedies are on tomorrow?",
    calls: [["search_events", { start_date: "2026-11-17", end_date: "2026-11-17", genre: "comedy" }]],
  },
  {
    ask: 'reserve 2 tickets for "Swan Lake" on December 12',
    calls: [["reserve_tickets", { show: "Swan Lake", date: "2026-12-12", count: 2 }]],
  },
  {
    ask: "please reserve four balcony tickets for Hamlet on 2026-12-20",
    calls: [["reserve_tickets", { show: "Hamlet", date: "2026-12-20", count: 4, category: "balcony" }]],
  },
  { ask: "reserve tickets for Hamlet", calls: [], says: /`date`/u },
  { ask: "refund TKT-90211", calls: [["refund_ticket", { ticket: "TKT-90211" }]] },
  { ask: "can TKT-90211 be refunded?", calls: [["get_ticket", { ticket: "TKT-90211" }]] },
  { ask: "show me ticket TKT-100", calls: [["get_ticket", { ticket: "TKT-100" }]] },
  {
    ask: "find a room with a piano for 12 people on Wednesday",
    calls: [["find_room", { date: "2026-11-18", people: 12, piano: true }]],
  },
  { ask: "is there a free rehearsal room tomorrow?", calls: [["find_room", { date: "2026-11-17" }]] },
  { ask: "add Lena Berg as a dancer", calls: [["add_member", { name: "Lena Berg", role: "dancer" }]] },
  {
    ask: "add the singer Marco Rossi, marco@example.com, to the ensemble",
    calls: [["add_member", { name: "Marco Rossi", role: "singer", email: "marco@example.com" }]],
  },
  { ask: "who are our musicians?", calls: [["list_members", { role: "musician" }]] },
  { ask: "list everybody in the ensemble", calls: [["list_members", {}]] },
  { ask: "crop poster.png to 1080x1350", calls: [["crop_image", { file: "poster.png", width: 1080, height: 1350 }]] },
  {
    ask: 'post "Curtain up at 8!" on mastodon',
    calls: [["create_post", { text: "Curtain up at 8!", platform: "mastodon" }]],
  },
  {
    ask: 'post "Last tickets" on bluesky tomorrow at 10:00',
    calls: [["create_post", { text: "Last tickets", platform: "bluesky", schedule_at: "2026-11-17T10:00:00Z" }]],
  },
  { ask: "what did we post on mastodon?", calls: [] },
  { ask: "exchange rate from EUR to CHF", calls: [["get_exchange_rate", { base: "EUR", quote: "CHF" }]] },
  { ask: "how many dollars do I get for a euro?", calls: [["get_exchange_rate", { base: "EUR", quote: "USD" }]] },
  { ask: "dim the stage to 20% over 5 seconds", calls: [["dim_stage", { percent: 20, seconds: 5 }]] },
  { ask: "is the stage dimmed?", calls: [] },
  {
    ask: 'read "Welcome to the show" aloud with a female voice',
    calls: [["speak", { text: "Welcome to the show", voice: "female" }]],
  },
  { ask: "what is 68 fahrenheit in celsius?", calls: [["temperature_convert", { degrees: 68, to: "celsius" }]] },
  { ask: "convert 21 degrees to fahrenheit", calls: [["temperature_convert", { degrees: 21, to: "fahrenheit" }]] },
  {
    ask: 'how many characters does "To be or not to be" have?',
    calls: [["wordcount", { text: "To be or not to be" }]],
  },
  { ask: "what files are in scripts/?", calls: [["list_files", { directory: "scripts/" }]] },
  { ask: "list all files in props recursively", calls: [["list_files", { directory: "props", recursive: true }]] },
  {
    ask: 'write "doors open at 7" to sign.txt',
    calls: [["write_file", { path: "sign.txt", content: "doors open at 7" }]],
  },
  {
    ask: 'append "and bring a friend" to sign.txt',
    calls: [["write_file", { path: "sign.txt", content: "and bring a friend", append: true }]],
  },
  { ask: "delete sign.txt", calls: [["delete_file", { path: "sign.txt" }]] },
  { ask: "maybe we should delete sign.txt", calls: [] },
  { ask: "delete sign.txt after the show", calls: [] },
  { ask: "ask the expert how old the theatre is", calls: [["ask_expert", { question: "how old the theatre is" }]] },
  {
    ask: "dim the stage to 0% and then refund TKT-5",
    calls: [
      ["dim_stage", { percent: 0 }],
      ["refund_ticket", { ticket: "TKT-5" }],
    ],
  },
  {
    ask: ["reserve 2 tickets for Hamlet", "December 1"],
    calls: [["reserve_tickets", { show: "Hamlet", date: "2026-12-01", count: 2 }]],
  },
  { ask: "I loved Hamlet", calls: [] },
  { ask: "write a review of Hamlet", calls: [] },
  { ask: "thank you", calls: [] },
];
