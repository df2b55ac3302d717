import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

const text = { type: "string" } as const;

/** Tools of a small company: chat, pull requests, containers, sheets, songs, doors. */
export const studioTools: readonly ModelTool[] = [
  tool(
    "slack_post_message",
    "Post a new message to a Slack channel",
    {
      channel: { type: "string", description: "Channel name, e.g. #general" },
      text: { type: "string", description: "The message text to post" },
    },
    ["channel", "text"],
  ),
  tool(
    "slack_get_history",
    "Get recent messages from a channel",
    {
      channel: { type: "string", description: "Channel name, e.g. #general" },
      limit: { type: "number", description: "Number of messages to retrieve (default 10)", default: 10 },
    },
    ["channel"],
  ),
  tool(
    "list_pull_requests",
    "List pull requests of a GitHub repository",
    {
      owner: { type: "string", description: "Repository owner" },
      repo: { type: "string", description: "Repository name" },
      state: { type: "string", enum: ["open", "closed", "all"], default: "open" },
    },
    ["owner", "repo"],
  ),
  tool(
    "merge_pull_request",
    "Merge a pull request",
    {
      owner: text,
      repo: text,
      pull_number: { type: "number" },
      merge_method: { type: "string", enum: ["merge", "squash", "rebase"] },
    },
    ["owner", "repo", "pull_number"],
  ),
  tool(
    "list_containers",
    "List Docker containers",
    { all: { type: "boolean", default: false, description: "Include stopped containers" } },
    [],
  ),
  tool(
    "container_logs",
    "Fetch the logs of a container",
    {
      container: { type: "string", description: "Container name or id" },
      tail: { type: "integer", default: 100, description: "Number of lines from the end" },
      since_minutes: { type: "integer", description: "Only the last N minutes" },
    },
    ["container"],
  ),
  tool("stop_container", "Stop a running container", { container: text }, ["container"]),
  tool(
    "append_row",
    "Append a row to a spreadsheet",
    {
      sheet: { type: "string", description: "Name of the sheet" },
      values: { type: "array", items: text, description: "Cell values, from left to right" },
    },
    ["sheet", "values"],
  ),
  tool(
    "read_range",
    "Read a range of cells from a spreadsheet",
    { sheet: text, range: { type: "string", description: "A1 notation, e.g. A1:C10" } },
    ["sheet", "range"],
  ),
  tool(
    "play_track",
    "Start playback of a song, album or playlist",
    {
      query: { type: "string", description: "What to play" },
      device: { type: "string", description: "Speaker to play on" },
      shuffle: { type: "boolean", default: false },
    },
    ["query"],
  ),
  tool(
    "set_volume",
    "Set the volume of a speaker",
    {
      percent: { type: "integer", minimum: 0, maximum: 100 },
      device: text,
    },
    ["percent"],
  ),
  tool("pause_playback", "Pause the music", {}, []),
  tool(
    "lock_door",
    "Lock or unlock a door",
    {
      door: { type: "string", enum: ["front", "back", "garage"] },
      action: { type: "string", enum: ["lock", "unlock"] },
    },
    ["door", "action"],
  ),
  tool(
    "get_sensor",
    "Read the current value of a sensor in the house",
    { kind: { type: "string", enum: ["temperature", "humidity", "co2", "motion"] }, room: text },
    ["kind", "room"],
  ),
  tool(
    "create_reminder",
    "Create a reminder",
    {
      text: { type: "string", description: "What to be reminded of" },
      due: { type: "string", format: "date-time", description: "When" },
      priority: { type: "integer", minimum: 1, maximum: 5 },
    },
    ["text"],
  ),
  tool(
    "list_reminders",
    "List reminders",
    { due_before: { type: "string", format: "date" }, done: { type: "boolean" } },
    [],
  ),
  tool(
    "convert_time",
    "Convert a time between time zones",
    {
      source_timezone: { type: "string", description: "IANA name, e.g. Europe/London" },
      time: { type: "string", description: "Time in 24-hour format (HH:MM)" },
      target_timezone: { type: "string", description: "IANA name, e.g. Asia/Tokyo" },
    },
    ["source_timezone", "time", "target_timezone"],
  ),
  tool(
    "search_wikipedia",
    "Search Wikipedia and return matching articles",
    {
      query: text,
      language: { type: "string", default: "en", description: "Language code" },
      limit: { type: "integer", default: 5 },
    },
    ["query"],
  ),
  tool(
    "add_expense",
    "Record an expense",
    {
      amount: { type: "number" },
      currency: { type: "string", enum: ["EUR", "USD", "CHF"], default: "EUR" },
      category: { type: "string", enum: ["travel", "food", "software", "office", "other"] },
      date: { type: "string", format: "date" },
      note: text,
    },
    ["amount", "category"],
  ),
  tool(
    "expense_report",
    "Sum up the expenses of a period",
    {
      from: { type: "string", format: "date" },
      to: { type: "string", format: "date" },
      category: { type: "string", enum: ["travel", "food", "software", "office", "other"] },
    },
    ["from", "to"],
  ),
  tool(
    "update_contact",
    "Update a contact in the address book",
    {
      name: { type: "string", description: "Full name of the contact" },
      email: { type: "string", format: "email" },
      phone: text,
    },
    ["name"],
  ),
  tool(
    "merge_pdfs",
    "Merge several PDF files into one",
    {
      inputs: { type: "array", items: text, description: "Paths of the PDF files, in order" },
      output: { type: "string", description: "Path of the merged file" },
    },
    ["inputs", "output"],
  ),
  tool(
    "replace_in_file",
    "Replace text in a file",
    {
      path: text,
      search: { type: "string", description: "Text to look for" },
      replacement: { type: "string", description: "Text to put in its place" },
      regex: { type: "boolean", default: false },
    },
    ["path", "search", "replacement"],
  ),
  tool(
    "generate_password",
    "Generate a random password",
    {
      length: { type: "integer", minimum: 8, maximum: 128, default: 16 },
      symbols: { type: "boolean", default: true, description: "Whether to use special characters" },
    },
    [],
  ),
  tool(
    "calculate_bmi",
    "Calculate the body mass index",
    {
      weight_kg: { type: "number" },
      height_cm: { type: "number" },
    },
    ["weight_kg", "height_cm"],
  ),
];
