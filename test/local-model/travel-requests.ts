import type { RequestCase } from "./request.ts";

/** Requests over tools for travelling and for every day. Today is Monday, 2026-11-16. */
export const travelRequests: readonly RequestCase[] = [
  { ask: "What's the weather like in Lisbon?", calls: [["get_weather", { city: "Lisbon" }]] },
  {
    ask: "weather in New York for the next 3 days please, in fahrenheit/imperial",
    calls: [["get_weather", { city: "New York", days: 3, units: "imperial" }]],
  },
  { ask: "How much is 250 USD in EUR?", calls: [["convert_currency", { amount: 250, from: "USD", to: "EUR" }]] },
  { ask: "convert 99.95 GBP to JPY", calls: [["convert_currency", { amount: 99.95, from: "GBP", to: "JPY" }]] },
  {
    ask: "Book a table for 4 at Luigi's at 19:30",
    calls: [["book_table", { restaurant: "Luigi's", people: 4, time: "19:30" }]],
  },
  {
    ask: "reserve a table at Noma on 2026-12-24 at 20:00 for 2 people",
    calls: [["book_table", { restaurant: "Noma", people: 2, time: "20:00", date: "2026-12-24" }]],
  },
  { ask: "Book me a table at Noma", calls: [] },
  { ask: "resize photo.jpg to 800x600", calls: [["resize_image", { path: "photo.jpg", width: 800, height: 600 }]] },
  { ask: "make banner.png 1200 px wide", calls: [["resize_image", { path: "banner.png", width: 1200 }]] },
  { ask: "Wake me at 6:45 on weekdays", calls: [["set_alarm", { time: "06:45", repeat: "weekdays" }]] },
  { ask: "set an alarm for 7am", calls: [["set_alarm", { time: "07:00" }]] },
  {
    ask: "find flights from Zurich to Lisbon on 2027-01-15",
    calls: [["find_flights", { origin: "Zurich", destination: "Lisbon", date: "2027-01-15" }]],
  },
  {
    ask: "I need a business class flight from BER to JFK for two passengers on March 3, 2027",
    calls: [
      ["find_flights", { origin: "BER", destination: "JFK", date: "2027-03-03", cabin: "business", passengers: 2 }],
    ],
  },
  { ask: "flights to Rome?", calls: [] },
  {
    ask: "zip a.txt and b.txt into stuff.zip",
    calls: [["compress", { files: ["a.txt", "b.txt"], output: "stuff.zip" }]],
  },
  {
    ask: "compress report.pdf, notes.md and data.csv to archive.zip with level 9",
    calls: [["compress", { files: ["report.pdf", "notes.md", "data.csv"], output: "archive.zip", level: 9 }]],
  },
  {
    ask: 'text +41 79 123 45 67 saying "I\'m late"',
    calls: [["send_sms", { to: "+41 79 123 45 67", text: "I'm late" }]],
  },
  { ask: "send a text message", calls: [] },
  { ask: "what's my BMI if I weigh 70 kg and am 1.75 m tall?", calls: [["bmi", { weight_kg: 70, height_m: 1.75 }]] },
  { ask: "bmi for 82kg, 180 cm", calls: [["bmi", { weight_kg: 82, height_m: 1.8 }]] },
  { ask: "look up the user jane.doe@example.com", calls: [["lookup_user", { email: "jane.doe@example.com" }]] },
  { ask: "who is user 4711?", calls: [["lookup_user", { id: 4711 }]] },
  {
    ask: 'open a ticket: "Printer on fire", priority urgent, assign it to Bob',
    calls: [["create_ticket", { title: "Printer on fire", priority: "urgent", assignee: "Bob" }]],
  },
  {
    ask: "create a low priority ticket titled 'Typo on the home page' with tags website and content",
    calls: [["create_ticket", { title: "Typo on the home page", priority: "low", tags: ["website", "content"] }]],
  },
  {
    ask: "fetch https://example.com/api/items?page=2",
    calls: [["http_get", { url: "https://example.com/api/items?page=2" }]],
  },
  {
    ask: "how many days are there between 2026-01-01 and 2026-03-15?",
    calls: [["days_between", { start: "2026-01-01", end: "2026-03-15" }]],
  },
  { ask: "play Bohemian Rhapsody", calls: [["play_music", { query: "Bohemian Rhapsody" }]] },
  { ask: "play some Miles Davis at volume 30", calls: [["play_music", { query: "Miles Davis", volume: 30 }]] },
  {
    ask: "get the weather in Oslo and then convert 100 NOK to SEK",
    calls: [
      ["get_weather", { city: "Oslo" }],
      ["convert_currency", { amount: 100, from: "NOK", to: "SEK" }],
    ],
  },
  {
    ask: "What's the weather in Paris, and in Rome?",
    calls: [
      ["get_weather", { city: "Paris" }],
      ["get_weather", { city: "Rome" }],
    ],
  },
  {
    ask: "set an alarm for 5:30 called gym, then play Eye of the Tiger",
    calls: [
      ["set_alarm", { time: "05:30", label: "gym" }],
      ["play_music", { query: "Eye of the Tiger" }],
    ],
  },
  { ask: "please delete all my files", calls: [] },
  { ask: "who won the world cup in 1998?", calls: [] },
  { ask: "hello!", calls: [] },
  { ask: "thanks, bye", calls: [] },
  { ask: "what can you do?", calls: [] },
  { ask: "wether in Berln", calls: [["get_weather", { city: "Berln" }]] },
  { ask: "I don't want to book a table", calls: [] },
  { ask: "weather: city: Madrid, days: 2", calls: [["get_weather", { city: "Madrid", days: 2 }]] },
  { ask: "get_weather city=Tokyo units=imperial", calls: [["get_weather", { city: "Tokyo", units: "imperial" }]] },
  {
    ask: ["What's the weather in Lisbon?", "and in Porto?", "and tomorrow?"],
    calls: [
      ["get_weather", { city: "Lisbon" }],
      ["get_weather", { city: "Porto" }],
    ],
    says: /no parameter that takes/u,
  },
  {
    ask: ["Book a table at Noma", "4 people", "at 20:00"],
    calls: [["book_table", { restaurant: "Noma", people: 4, time: "20:00" }]],
  },
  {
    ask: ["Book a table at Noma", "actually, what's the weather in Rome?"],
    calls: [["get_weather", { city: "Rome" }]],
  },
  {
    ask: ["flights to Rome?", "from Zurich on 2027-05-01"],
    calls: [["find_flights", { origin: "Zurich", destination: "Rome", date: "2027-05-01" }]],
  },
  {
    ask: ["convert 10 USD to EUR", "and to GBP?", "and 50?"],
    calls: [
      ["convert_currency", { amount: 10, from: "USD", to: "EUR" }],
      ["convert_currency", { amount: 10, from: "USD", to: "GBP" }],
      ["convert_currency", { amount: 50, from: "USD", to: "GBP" }],
    ],
  },
  { ask: ["send a text message", "never mind"], calls: [] },
];
