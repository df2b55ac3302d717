import type { RequestCase } from "./request.ts";

/** Requests of a garage, written down before the model was tried on them. */
export const garageRequests: readonly RequestCase[] = [
  {
    ask: "open https://example.com/shop in the browser",
    calls: [["browser_navigate", { url: "https://example.com/shop" }]],
  },
  { ask: "go to example.org", calls: [["browser_navigate", { url: "https://example.org" }]] },
  { ask: "take a screenshot of the whole page", calls: [["browser_screenshot", { fullPage: true }]] },
  { ask: "take a screenshot", calls: [["browser_screenshot", {}]] },
  {
    ask: "create a customer Jana Kral with the email jana@example.com",
    calls: [["create_customer", { name: "Jana Kral", email: "jana@example.com" }]],
  },
  { ask: "refund pay_8812", calls: [["create_refund", { payment: "pay_8812" }]] },
  { ask: "refund 20 euros of pay_8812", calls: [["create_refund", { payment: "pay_8812", amount: 20 }]] },
  { ask: "was pay_8812 refunded?", calls: [] },
  { ask: "refund the last payment", calls: [], says: /`payment`/u },
  { ask: "which payments failed?", calls: [["list_payments", { status: "failed" }]] },
  { ask: "show the last 5 payments of Jana Kral", calls: [["list_payments", { customer: "Jana Kral", limit: 5 }]] },
  {
    ask: 'create a Notion page titled "Tyre sizes" under "Workshop"',
    calls: [["notion_create_page", { parent: "Workshop", title: "Tyre sizes" }]],
  },
  { ask: "search Notion for price list", calls: [["notion_search", { query: "price list" }]] },
  { ask: "list the pods in the namespace shop", calls: [["get_pods", { namespace: "shop" }]] },
  { ask: "which pods are pending?", calls: [["get_pods", { status: "Pending" }]] },
  { ask: "scale the deployment web to 5 replicas", calls: [["scale_deployment", { deployment: "web", replicas: 5 }]] },
  {
    ask: "scale checkout to 0 in the namespace shop",
    calls: [["scale_deployment", { deployment: "checkout", replicas: 0, namespace: "shop" }]],
  },
  { ask: "how many replicas does web have?", calls: [] },
  {
    ask: "get the transcript of https://youtu.be/abc123",
    calls: [["get_transcript", { url: "https://youtu.be/abc123" }]],
  },
  { ask: "who owns ZH-48213?", calls: [["lookup_vehicle", { plate: "ZH-48213" }]] },
  {
    ask: "book an oil service for ZH-48213 on December 4",
    calls: [["book_service", { plate: "ZH-48213", date: "2026-12-04", type: "oil" }]],
  },
  { ask: "book new brakes for ZH-48213", calls: [], says: /`date`/u },
  { ask: "my car ZH-48213 makes a strange noise", calls: [] },
  {
    ask: "what does fuel cost for 420 km at 6.5 litres per 100 km and a price of 1.80?",
    calls: [["fuel_cost", { distance_km: 420, consumption: 6.5, price: 1.8 }]],
  },
  { ask: "coordinates of 10 Downing Street, London", calls: [["geocode", { address: "10 Downing Street, London" }]] },
  { ask: "what address is at lat 47.37 and lon 8.54?", calls: [["reverse_geocode", { lat: 47.37, lon: 8.54 }]] },
  {
    ask: "remember that the spare key is in the safe",
    calls: [["store_memory", { fact: "the spare key is in the safe" }]],
  },
  { ask: "what do you remember about the spare key?", calls: [["recall_memory", { topic: "spare key" }]] },
  { ask: 'compare "abc" with "abd"', calls: [["diff_texts", { a: "abc", b: "abd" }]] },
  { ask: "pick one of pizza, sushi and curry", calls: [["random_choice", { options: ["pizza", "sushi", "curry"] }]] },
  { ask: 'md5 of "hello"', calls: [["hash_text", { text: "hello", algorithm: "md5" }]] },
  { ask: "start the stopwatch", calls: [["stopwatch", { action: "start" }]] },
  { ask: "what does the stopwatch say?", calls: [] },
  {
    ask: "stop the stopwatch and take a screenshot",
    calls: [
      ["stopwatch", { action: "stop" }],
      ["browser_screenshot", {}],
    ],
  },
  {
    ask: "look up ZH-48213 and ZH-77",
    calls: [
      ["lookup_vehicle", { plate: "ZH-48213" }],
      ["lookup_vehicle", { plate: "ZH-77" }],
    ],
  },
  { ask: "scale web to 3 replicas if the load is high", calls: [] },
  { ask: "perhaps refund pay_8812", calls: [] },
  { ask: "I scaled web to 5 replicas yesterday", calls: [] },
  { ask: "sing me a song", calls: [] },
  { ask: "hello", calls: [] },
];
