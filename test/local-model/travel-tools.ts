import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

/** Tools for travelling and for every day. */
export const travelTools: readonly ModelTool[] = [
  tool(
    "book_table",
    "Book a table in a restaurant",
    {
      restaurant: { type: "string", description: "name of the restaurant" },
      people: { type: "integer", description: "number of guests" },
      date: { type: "string", description: "ISO date" },
      time: { type: "string", description: "time of day, HH:MM" },
    },
    ["restaurant", "people", "time"],
  ),
  tool(
    "get_weather",
    "Get the weather forecast for a city",
    {
      city: { type: "string" },
      days: { default: 1, description: "how many days ahead", type: "integer", minimum: 1, maximum: 10 },
      units: { default: "metric", type: "string", enum: ["metric", "imperial"] },
    },
    ["city"],
  ),
  tool(
    "convert_currency",
    "Convert an amount of money from one currency to another",
    {
      amount: { type: "number" },
      from: { type: "string", description: "ISO 4217 code" },
      to: { type: "string", description: "ISO 4217 code" },
    },
    ["amount", "from", "to"],
  ),
  tool(
    "resize_image",
    "Resize an image file to a width and height in pixels",
    {
      path: { type: "string", description: "path of the image" },
      width: { type: "integer" },
      height: { type: "integer" },
      keep_ratio: { default: true, type: "boolean" },
    },
    ["path", "width"],
  ),
  tool(
    "set_alarm",
    "Set an alarm clock",
    {
      time: { type: "string", description: "time of day, HH:MM, 24 hours" },
      label: { type: "string" },
      repeat: { default: "never", type: "string", enum: ["never", "daily", "weekdays", "weekends"] },
    },
    ["time"],
  ),
  tool(
    "find_flights",
    "Search for flights between two airports",
    {
      origin: { type: "string", description: "city or airport code" },
      destination: { type: "string", description: "city or airport code" },
      date: { type: "string", description: "ISO date" },
      passengers: { default: 1, type: "integer" },
      cabin: { default: "economy", type: "string", enum: ["economy", "business", "first"] },
    },
    ["origin", "destination", "date"],
  ),
  tool(
    "compress",
    "Compress files into an archive",
    {
      files: { type: "array", items: { type: "string" } },
      output: { type: "string", description: "path of the archive" },
      level: { default: 6, type: "integer", minimum: 1, maximum: 9 },
    },
    ["files", "output"],
  ),
  tool(
    "send_sms",
    "Send a text message to a phone number",
    { to: { type: "string", description: "phone number" }, text: { type: "string" } },
    ["to", "text"],
  ),
  tool("bmi", "Compute the body mass index", { weight_kg: { type: "number" }, height_m: { type: "number" } }, [
    "weight_kg",
    "height_m",
  ]),
  tool(
    "lookup_user",
    "Look up a user account by e-mail address or id",
    { email: { type: "string" }, id: { type: "integer" } },
    [],
  ),
  tool(
    "create_ticket",
    "Create a support ticket",
    {
      title: { type: "string" },
      priority: { default: "medium", type: "string", enum: ["low", "medium", "high", "urgent"] },
      assignee: { type: "string" },
      tags: { type: "array", items: { type: "string" } },
    },
    ["title"],
  ),
  tool("http_get", "Fetch a web page or API by its URL", { url: { type: "string" } }, ["url"]),
  tool(
    "days_between",
    "Count the days between two dates",
    { start: { type: "string", description: "ISO date" }, end: { type: "string", description: "ISO date" } },
    ["start", "end"],
  ),
  tool(
    "play_music",
    "Play a song or an artist",
    {
      query: { type: "string", description: "song, album or artist" },
      volume: { type: "integer", minimum: 0, maximum: 100 },
    },
    ["query"],
  ),
];
