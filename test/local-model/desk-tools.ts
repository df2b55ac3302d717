import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

/** Tools of a help desk, a traveller and somebody who runs services: snake case, camel case, few descriptions. */
export const deskTools: readonly ModelTool[] = [
  tool(
    "createTicket",
    "Opens a support ticket",
    {
      title: { type: "string" },
      details: { type: "string" },
      priority: { type: "string", enum: ["P1", "P2", "P3", "P4"] },
      assignee: { type: "string", description: "who works on it" },
    },
    ["title"],
  ),
  tool(
    "listTickets",
    "Lists support tickets",
    {
      status: { type: "string", enum: ["open", "closed", "all"], default: "open" },
      assignee: { type: "string" },
      limit: { type: "integer", default: 20 },
    },
    [],
  ),
  tool(
    "closeTicket",
    "Closes a support ticket",
    {
      ticketId: { type: "string", pattern: "^[A-Z]+-\\d+$" },
      resolution: { type: "string", enum: ["fixed", "wontfix", "duplicate"] },
    },
    ["ticketId", "resolution"],
  ),
  tool(
    "play_music",
    "Plays music",
    {
      artist: { type: "string" },
      shuffle: { type: "boolean", default: false },
      volume: { type: "integer", minimum: 0, maximum: 100 },
    },
    ["artist"],
  ),
  tool(
    "order_coffee",
    "Orders a coffee from the machine",
    {
      drink: { type: "string", enum: ["espresso", "latte", "cappuccino", "americano"] },
      size: { type: "string", enum: ["small", "medium", "large"], default: "medium" },
      extras: { type: "array", items: { type: "string", enum: ["sugar", "oat milk", "cinnamon"] } },
    },
    ["drink"],
  ),
  tool(
    "loan_payment",
    "Computes the monthly payment of a loan",
    {
      principal: { type: "number", description: "the amount that is borrowed" },
      annual_rate_percent: { type: "number", description: "interest per year, in percent" },
      years: { type: "integer" },
    },
    ["principal", "annual_rate_percent", "years"],
  ),
  tool(
    "search_flights",
    "Search for flights",
    {
      origin: { type: "string", description: "city to fly from" },
      destination: { type: "string", description: "city to fly to" },
      depart: { type: "string", format: "date" },
      passengers: { type: "integer", minimum: 1, default: 1 },
      cabin: { type: "string", enum: ["economy", "business", "first"], default: "economy" },
    },
    ["origin", "destination", "depart"],
  ),
  tool(
    "stock_price",
    "Current price of a share",
    { ticker: { type: "string", pattern: "^[A-Z]{1,5}$", description: "such as AAPL" } },
    ["ticker"],
  ),
  tool(
    "add_contact",
    "Add somebody to the address book",
    {
      name: { type: "string" },
      phone: { type: "string" },
      email: { type: "string", format: "email" },
      address: {
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" }, zip: { type: "string" } },
      },
    },
    ["name"],
  ),
  tool("delete_contact", "Delete somebody from the address book", { name: { type: "string" } }, ["name"]),
  tool(
    "set_alarm",
    "Set an alarm clock",
    {
      time: { type: "string", pattern: "^\\d{2}:\\d{2}$" },
      weekdays: { type: "array", items: { type: "string", enum: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] } },
      label: { type: "string" },
    },
    ["time"],
  ),
  tool(
    "copy_file",
    "Copy a file",
    { source: { type: "string" }, destination: { type: "string" }, overwrite: { type: "boolean", default: false } },
    ["source", "destination"],
  ),
  tool("ping", "Check whether a host answers", { host: { type: "string" }, count: { type: "integer", default: 4 } }, [
    "host",
  ]),
  tool(
    "deploy",
    "Deploy a version of a service",
    {
      service: { type: "string" },
      version: { type: "string", description: "such as 1.4.2" },
      environment: { type: "string", enum: ["dev", "staging", "prod"] },
    },
    ["service", "version", "environment"],
  ),
  tool("define_word", "Look up the meaning of a word", { word: { type: "string" } }, ["word"]),
  tool(
    "generate_password",
    "Generate a random password",
    { length: { type: "integer", minimum: 8, maximum: 128, default: 16 }, symbols: { type: "boolean", default: true } },
    [],
  ),
  tool("time_in", "Tell the local time in a city", { city: { type: "string" } }, ["city"]),
  tool(
    "query_logs",
    "Search the logs of a service",
    {
      service: { type: "string" },
      level: { type: "string", enum: ["debug", "info", "warn", "error"] },
      contains: { type: "string", description: "only lines with this text" },
      hours: { type: "integer", description: "how many hours to look back", default: 1 },
      limit: { type: "integer", default: 100 },
    },
    ["service"],
  ),
  tool(
    "refund",
    "Refund a payment",
    { order_id: { type: "integer" }, amount: { type: "number", exclusiveMinimum: 0 }, reason: { type: "string" } },
    ["order_id", "amount"],
  ),
  tool(
    "set_feature_flag",
    "Switch a feature flag on or off",
    {
      flag: { type: "string" },
      enabled: { type: "boolean" },
      percent: { type: "number", minimum: 0, maximum: 100, default: 100 },
    },
    ["flag", "enabled"],
  ),
  tool(
    "track_workout",
    "Log a workout",
    {
      activity: { type: "string", enum: ["running", "cycling", "swimming", "yoga"] },
      duration_minutes: { type: "number" },
      distance_km: { type: "number" },
      date: { type: "string", format: "date" },
    },
    ["activity", "duration_minutes"],
  ),
  tool(
    "recipe_search",
    "Find recipes",
    {
      ingredients: { type: "array", items: { type: "string" } },
      vegetarian: { type: "boolean" },
      max_minutes: { type: "integer" },
    },
    ["ingredients"],
  ),
  tool(
    "shorten_url",
    "Make a short link of a long one",
    { url: { type: "string", format: "uri" }, expires_days: { type: "integer" } },
    ["url"],
  ),
];
