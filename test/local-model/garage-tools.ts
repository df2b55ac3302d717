import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

const text = { type: "string" } as const;

/** Tools of a garage with a web shop: browser, payments, pages, pods, cars. */
export const garageTools: readonly ModelTool[] = [
  tool("browser_navigate", "Navigate to a URL", { url: { type: "string", description: "The URL to navigate to" } }, [
    "url",
  ]),
  tool(
    "browser_screenshot",
    "Take a screenshot of the current page",
    { fullPage: { type: "boolean", description: "Whole page" } },
    [],
  ),
  tool(
    "create_customer",
    "Create a customer in the payment system",
    { name: text, email: { type: "string", format: "email" } },
    ["name"],
  ),
  tool(
    "create_refund",
    "Refund a payment",
    {
      payment: { type: "string", description: "Payment id, e.g. pay_8812" },
      amount: { type: "number", description: "Part of it; all if left out" },
    },
    ["payment"],
  ),
  tool(
    "list_payments",
    "List payments",
    {
      customer: text,
      status: { type: "string", enum: ["succeeded", "pending", "failed"] },
      limit: { type: "integer" },
    },
    [],
  ),
  tool(
    "notion_create_page",
    "Create a page in a Notion workspace",
    { parent: { type: "string", description: "Title of the parent page" }, title: text, content: text },
    ["title"],
  ),
  tool("notion_search", "Search pages in Notion by title", { query: text }, ["query"]),
  tool(
    "get_pods",
    "List the pods of a namespace",
    {
      namespace: { type: "string", default: "default" },
      status: { type: "string", enum: ["Running", "Pending", "Failed"] },
    },
    [],
  ),
  tool(
    "scale_deployment",
    "Scale a deployment to a number of replicas",
    { deployment: text, replicas: { type: "integer", minimum: 0 }, namespace: text },
    ["deployment", "replicas"],
  ),
  tool(
    "get_transcript",
    "Get the transcript of a YouTube video",
    { url: { type: "string", format: "uri" }, lang: { type: "string", default: "en" } },
    ["url"],
  ),
  tool(
    "lookup_vehicle",
    "Look up a vehicle by its license plate",
    { plate: { type: "string", description: "e.g. ZH-48213" } },
    ["plate"],
  ),
  tool(
    "book_service",
    "Book a service for a vehicle",
    {
      plate: { type: "string", description: "e.g. ZH-48213" },
      date: { type: "string", format: "date" },
      type: { type: "string", enum: ["oil", "tires", "brakes", "inspection"] },
      pickup: { type: "boolean", default: false, description: "Whether the car is fetched" },
    },
    ["plate", "date", "type"],
  ),
  tool(
    "fuel_cost",
    "Estimate the cost of fuel for a trip",
    {
      distance_km: { type: "number" },
      consumption: { type: "number", description: "Litres per 100 km" },
      price: { type: "number", description: "Price per litre" },
    },
    ["distance_km", "consumption", "price"],
  ),
  tool("geocode", "Get the coordinates of an address", { address: text }, ["address"]),
  tool(
    "reverse_geocode",
    "Get the address at a pair of coordinates",
    { lat: { type: "number" }, lon: { type: "number" } },
    ["lat", "lon"],
  ),
  tool("store_memory", "Store a fact for later", { fact: text, tags: { type: "array", items: text } }, ["fact"]),
  tool("recall_memory", "Recall stored facts about a topic", { topic: text }, ["topic"]),
  tool("diff_texts", "Compare two texts", { a: text, b: text }, ["a", "b"]),
  tool("random_choice", "Pick one of several options at random", { options: { type: "array", items: text } }, [
    "options",
  ]),
  tool(
    "hash_text",
    "Hash a text",
    { text, algorithm: { type: "string", enum: ["md5", "sha1", "sha256"], default: "sha256" } },
    ["text"],
  ),
  tool(
    "stopwatch",
    "Start, stop or read the stopwatch",
    { action: { type: "string", enum: ["start", "stop", "read"] } },
    ["action"],
  ),
];
