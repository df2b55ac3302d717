import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

/** Tools of a house and a small office, with results that say what they were given. */
export const houseTools: readonly ModelTool[] = [
  tool(
    "weather-forecast",
    "Get the weather forecast for a city",
    {
      city: { type: "string", description: "name of the city" },
      days: { type: "integer", minimum: 1, maximum: 7, default: 1, description: "how many days ahead" },
      units: { type: "string", enum: ["metric", "imperial"], default: "metric" },
    },
    ["city"],
  ),
  tool(
    "calculate",
    "Evaluate an arithmetic expression",
    { expression: { type: "string", description: "such as 2 * (3 + 4)" } },
    ["expression"],
  ),
  tool(
    "convert-currency",
    "Convert an amount of money from one currency to another",
    {
      amount: { type: "number" },
      from: { type: "string", pattern: "^[A-Z]{3}$", description: "ISO code of the currency, such as USD" },
      to: { type: "string", pattern: "^[A-Z]{3}$", description: "ISO code of the currency, such as EUR" },
    },
    ["amount", "from", "to"],
  ),
  tool(
    "convert-units",
    "Convert a measurement between units of length, weight, volume or temperature",
    {
      value: { type: "number" },
      from: { type: "string", enum: ["km", "mi", "m", "ft", "kg", "lb", "l", "gal", "celsius", "fahrenheit"] },
      to: { type: "string", enum: ["km", "mi", "m", "ft", "kg", "lb", "l", "gal", "celsius", "fahrenheit"] },
    },
    ["value", "from", "to"],
  ),
  tool(
    "set-reminder",
    "Remind the user of something on a day",
    {
      text: { type: "string", description: "what to be reminded of" },
      date: { type: "string", format: "date", description: "the day" },
      time: { type: "string", pattern: "^\\d{2}:\\d{2}$", description: "the time of day, HH:MM" },
    },
    ["text", "date"],
  ),
  tool(
    "send-email",
    "Send an e-mail",
    {
      to: { type: "string", format: "email", description: "who gets it" },
      subject: { type: "string" },
      body: { type: "string", description: "the message" },
      cc: { type: "array", items: { type: "string", format: "email" } },
    },
    ["to", "subject", "body"],
  ),
  tool(
    "find-files",
    "Search for files by name in a folder",
    {
      pattern: { type: "string", description: "the name, or a glob such as *.txt" },
      folder: { type: "string", default: ".", description: "where to search" },
      max_size_kb: { type: "integer", description: "only files smaller than this many kilobytes" },
    },
    ["pattern"],
  ),
  tool(
    "http-get",
    "Fetch a web page or an API over HTTP",
    {
      url: { type: "string", format: "uri" },
      timeout_ms: { type: "integer", default: 10000, description: "how many milliseconds to wait" },
      follow_redirects: { type: "boolean", default: true },
    },
    ["url"],
  ),
  tool(
    "run-sql",
    "Run a SQL query against a database",
    {
      query: { type: "string", description: "the SQL" },
      database: { type: "string", enum: ["sales", "hr", "logs"] },
    },
    ["query", "database"],
  ),
  tool(
    "todo-add",
    "Add an item to the to-do list",
    {
      title: { type: "string" },
      priority: { type: "string", enum: ["low", "medium", "high"], default: "medium" },
      due: { type: "string", format: "date" },
      tags: { type: "array", items: { type: "string" } },
    },
    ["title"],
  ),
  tool(
    "todo-list",
    "Show the to-do list",
    { status: { type: "string", enum: ["open", "done", "all"], default: "open" } },
    [],
  ),
  tool("todo-complete", "Mark an item of the to-do list as done", { id: { type: "integer" } }, ["id"]),
  tool("todo-delete", "Delete an item from the to-do list", { id: { type: "integer" } }, ["id"]),
  tool(
    "translate",
    "Translate a text into another language",
    {
      text: { type: "string" },
      language: { type: "string", description: "the language to translate into, such as French" },
    },
    ["text", "language"],
  ),
  tool(
    "start-timer",
    "Start a countdown timer",
    { minutes: { type: "number", exclusiveMinimum: 0 }, label: { type: "string", description: "what it is for" } },
    ["minutes"],
  ),
  tool(
    "create-event",
    "Put an event into the calendar",
    {
      title: { type: "string" },
      start: { type: "string", format: "date-time" },
      duration_minutes: { type: "integer", default: 60 },
      attendees: { type: "array", items: { type: "string" }, description: "who is invited" },
    },
    ["title", "start"],
  ),
  tool("list-events", "List what is in the calendar on a day", { date: { type: "string", format: "date" } }, ["date"]),
  tool(
    "stock-level",
    "Tell how many pieces of an article are in the warehouse",
    { sku: { type: "string", pattern: "^[A-Z]{2}-\\d{4}$" } },
    ["sku"],
  ),
  tool(
    "stock-adjust",
    "Book pieces of an article into or out of the warehouse",
    {
      sku: { type: "string", pattern: "^[A-Z]{2}-\\d{4}$" },
      quantity: { type: "integer", minimum: 1 },
      direction: { type: "string", enum: ["in", "out"] },
    },
    ["sku", "quantity", "direction"],
  ),
  tool(
    "create-user",
    "Create an account for a new user",
    {
      name: { type: "string" },
      email: { type: "string", format: "email" },
      role: { type: "string", enum: ["viewer", "editor", "admin"], default: "viewer" },
      send_invite: { type: "boolean", default: true, description: "send an invitation by e-mail" },
    },
    ["name", "email"],
  ),
  tool("disable-user", "Lock the account of a user", { email: { type: "string", format: "email" } }, ["email"]),
  tool(
    "book-table",
    "Reserve a table at a restaurant",
    {
      restaurant: { type: "string" },
      people: { type: "integer", minimum: 1 },
      date: { type: "string", format: "date" },
      time: { type: "string", pattern: "^\\d{2}:\\d{2}$" },
    },
    ["restaurant", "people", "date", "time"],
  ),
  tool(
    "resize-image",
    "Resize a picture",
    {
      file: { type: "string", description: "the picture" },
      size: {
        type: "object",
        properties: { width: { type: "integer" }, height: { type: "integer" } },
        required: ["width", "height"],
      },
      keep_aspect: { type: "boolean", default: true },
    },
    ["file", "size"],
  ),
  tool(
    "restart-service",
    "Restart a service",
    {
      service: { type: "string", enum: ["web", "worker", "database"] },
      environment: { type: "string", enum: ["staging", "production"] },
    },
    ["service", "environment"],
  ),
  tool(
    "log-expense",
    "Record an expense",
    {
      amount: { type: "number" },
      category: { type: "string", enum: ["food", "travel", "office", "other"] },
      note: { type: "string" },
      date: { type: "string", format: "date" },
    },
    ["amount", "category"],
  ),
  tool("track-parcel", "Tell where a parcel is", { tracking_number: { type: "string" } }, ["tracking_number"]),
  tool(
    "set-thermostat",
    "Set the temperature of a room",
    {
      room: { type: "string", enum: ["kitchen", "bedroom", "living room", "bathroom"] },
      celsius: { type: "number", minimum: 5, maximum: 30 },
    },
    ["room", "celsius"],
  ),
  tool(
    "switch-lights",
    "Turn the lights of a room on or off",
    {
      room: { type: "string", enum: ["kitchen", "bedroom", "living room", "bathroom"] },
      state: { type: "string", enum: ["on", "off"] },
      brightness: { type: "integer", minimum: 0, maximum: 100, description: "in percent" },
    },
    ["room", "state"],
  ),
];
