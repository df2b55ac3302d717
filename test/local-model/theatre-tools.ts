import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

const text = { type: "string" } as const;

/** Tools of a theatre: tickets, rooms, people, pictures, posts. */
export const theatreTools: readonly ModelTool[] = [
  tool(
    "search_events",
    "Search for shows and concerts",
    {
      keyword: { type: "string", description: "Title or artist" },
      city: text,
      start_date: { type: "string", format: "date" },
      end_date: { type: "string", format: "date" },
      genre: { type: "string", enum: ["opera", "ballet", "drama", "comedy", "concert"] },
    },
    [],
  ),
  tool(
    "reserve_tickets",
    "Reserve tickets for a show",
    {
      show: { type: "string", description: "Title of the show" },
      date: { type: "string", format: "date" },
      count: { type: "integer", minimum: 1, maximum: 10 },
      category: { type: "string", enum: ["stalls", "balcony", "box"] },
    },
    ["show", "date", "count"],
  ),
  tool("refund_ticket", "Refund a ticket", { ticket: { type: "string", description: "e.g. TKT-90211" } }, ["ticket"]),
  tool("get_ticket", "Get the details of a ticket", { ticket: { type: "string", description: "e.g. TKT-90211" } }, [
    "ticket",
  ]),
  tool(
    "find_room",
    "Find a free rehearsal room",
    {
      date: { type: "string", format: "date" },
      people: { type: "integer" },
      piano: { type: "boolean", description: "With a piano" },
    },
    ["date"],
  ),
  tool(
    "add_member",
    "Add a person to the ensemble",
    {
      name: text,
      role: { type: "string", enum: ["actor", "singer", "dancer", "musician"] },
      email: { type: "string", format: "email" },
    },
    ["name", "role"],
  ),
  tool(
    "list_members",
    "List the people of the ensemble",
    { role: { type: "string", enum: ["actor", "singer", "dancer", "musician"] } },
    [],
  ),
  tool(
    "crop_image",
    "Crop an image",
    {
      file: text,
      width: { type: "integer" },
      height: { type: "integer" },
      gravity: { type: "string", enum: ["center", "north", "south"], default: "center" },
    },
    ["file", "width", "height"],
  ),
  tool(
    "create_post",
    "Publish a post on social media",
    {
      text: { type: "string", maxLength: 500 },
      platform: { type: "string", enum: ["mastodon", "bluesky", "instagram"] },
      schedule_at: { type: "string", format: "date-time" },
    },
    ["text", "platform"],
  ),
  tool(
    "get_exchange_rate",
    "Get the exchange rate between two currencies",
    {
      base: { type: "string", description: "Currency code, e.g. EUR" },
      quote: { type: "string", description: "Currency code, e.g. USD" },
    },
    ["base", "quote"],
  ),
  tool(
    "dim_stage",
    "Dim the stage lights",
    {
      percent: { type: "integer", minimum: 0, maximum: 100 },
      seconds: { type: "number", description: "Duration of the fade in seconds" },
    },
    ["percent"],
  ),
  tool("speak", "Read a text aloud", { text, voice: { type: "string", enum: ["male", "female"] } }, ["text"]),
  tool(
    "temperature_convert",
    "Convert a temperature between Celsius and Fahrenheit",
    {
      degrees: { type: "number" },
      to: { type: "string", enum: ["celsius", "fahrenheit"] },
    },
    ["degrees", "to"],
  ),
  tool("wordcount", "Count words and characters of a text", { text }, ["text"]),
  tool(
    "list_files",
    "List the files in a directory",
    { directory: text, recursive: { type: "boolean", default: false } },
    ["directory"],
  ),
  tool(
    "write_file",
    "Write text to a file",
    { path: text, content: text, append: { type: "boolean", default: false } },
    ["path", "content"],
  ),
  tool("delete_file", "Delete a file", { path: text }, ["path"]),
  tool("ask_expert", "Ask an expert a question and wait for the answer", { question: text }, ["question"]),
];
