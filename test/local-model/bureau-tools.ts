import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

const text = { type: "string" } as const;

/** Tools for mail, dates, tickets, files and notes, as servers declare them. */
export const bureauTools: readonly ModelTool[] = [
  tool(
    "create_event",
    "Create a new calendar event.",
    {
      title: { type: "string", description: "Title of the event" },
      start: { type: "string", format: "date-time", description: "Start time in ISO 8601 format" },
      end: { type: "string", format: "date-time", description: "End time in ISO 8601 format" },
      attendees: {
        type: "array",
        items: { type: "string", format: "email" },
        description: "Email addresses of guests",
      },
      location: { type: "string", description: "Where the event takes place" },
    },
    ["title", "start"],
  ),
  tool(
    "list_events",
    "List calendar events in a range of days.",
    {
      start_date: { type: "string", format: "date" },
      end_date: { type: "string", format: "date" },
      max_results: { type: "integer", minimum: 1, maximum: 100, default: 10 },
    },
    [],
  ),
  tool(
    "send_email",
    "Send an email.",
    {
      to: { type: "array", items: { type: "string", format: "email" }, description: "Recipients" },
      subject: text,
      body: { type: "string", description: "Plain text body" },
      cc: { type: "array", items: { type: "string", format: "email" } },
    },
    ["to", "subject", "body"],
  ),
  tool(
    "search_emails",
    "Search emails in the mailbox.",
    {
      query: { type: "string", description: "Words to look for" },
      from: { type: "string", description: "Only emails of this sender" },
      unread_only: { type: "boolean", default: false },
      limit: { type: "integer", default: 20, description: "Maximum number of emails to return" },
    },
    [],
  ),
  tool(
    "create_issue",
    "Create a new issue in the tracker.",
    {
      project: { type: "string", description: "Project key, e.g. OPS" },
      summary: { type: "string", description: "One line that says what is wrong" },
      description: text,
      priority: { type: "string", enum: ["low", "medium", "high", "critical"], default: "medium" },
      labels: { type: "array", items: text },
      assignee: { type: "string", description: "User name" },
    },
    ["project", "summary"],
  ),
  tool(
    "get_issue",
    "Get the details of an issue.",
    { key: { type: "string", description: "Issue key, e.g. OPS-123" } },
    ["key"],
  ),
  tool(
    "transition_issue",
    "Move an issue to another status.",
    {
      key: { type: "string", description: "Issue key, e.g. OPS-123" },
      status: { type: "string", enum: ["todo", "in_progress", "in_review", "done"] },
    },
    ["key", "status"],
  ),
  tool(
    "search_files",
    "Recursively search for files and directories matching a pattern.",
    {
      path: { type: "string", description: "Directory to start in" },
      pattern: { type: "string", description: "Glob pattern, e.g. *.ts" },
      exclude: { type: "array", items: text, description: "Patterns to leave out" },
    },
    ["path", "pattern"],
  ),
  tool(
    "read_text_file",
    "Read the contents of a file as text.",
    {
      path: text,
      head: { type: "integer", description: "Only the first N lines" },
      tail: { type: "integer", description: "Only the last N lines" },
    },
    ["path"],
  ),
  tool(
    "move_file",
    "Move or rename files and directories. Fails if the destination exists.",
    { source: text, destination: text },
    ["source", "destination"],
  ),
  tool(
    "git_log",
    "Show the commit logs.",
    {
      repo_path: { type: "string", default: "." },
      max_count: { type: "integer", default: 10, description: "Maximum number of commits to show" },
      author: { type: "string", description: "Only commits of this author" },
      since: { type: "string", format: "date", description: "Only commits after this date" },
    },
    [],
  ),
  tool(
    "git_create_branch",
    "Creates a new branch from an optional base branch.",
    {
      branch_name: { type: "string", description: "Name of the new branch" },
      base_branch: { type: "string", description: "Branch to start from" },
    },
    ["branch_name"],
  ),
  tool(
    "describe_table",
    "Get the columns of a database table.",
    { table: { type: "string", description: "Name of the table" } },
    ["table"],
  ),
  tool(
    "get_forecast",
    "Get the weather forecast for a location.",
    {
      location: { type: "string", description: "City name" },
      days: { type: "integer", minimum: 1, maximum: 14, default: 3 },
      units: { type: "string", enum: ["metric", "imperial"], default: "metric" },
    },
    ["location"],
  ),
  tool(
    "convert_currency",
    "Convert an amount of money from one currency to another.",
    {
      amount: { type: "number" },
      from_currency: { type: "string", pattern: "^[A-Z]{3}$", description: "ISO code, e.g. USD" },
      to_currency: { type: "string", pattern: "^[A-Z]{3}$", description: "ISO code, e.g. EUR" },
    },
    ["amount", "from_currency", "to_currency"],
  ),
  tool(
    "set_timer",
    "Start a timer that rings when it is over.",
    { duration_seconds: { type: "integer", minimum: 1 }, label: { type: "string", description: "What it is for" } },
    ["duration_seconds"],
  ),
  tool(
    "control_light",
    "Turn a light on or off, or set its brightness.",
    {
      room: text,
      state: { type: "string", enum: ["on", "off"] },
      brightness: { type: "integer", minimum: 0, maximum: 100, description: "Percent" },
    },
    ["room"],
  ),
  tool(
    "create_note",
    "Create a note in the notebook.",
    { title: text, content: text, tags: { type: "array", items: text } },
    ["content"],
  ),
  tool(
    "find_contacts",
    "Look up contacts in the CRM.",
    { name: text, company: text, email: { type: "string", format: "email" } },
    [],
  ),
  tool(
    "resize_image",
    "Resize an image.",
    {
      input_path: text,
      output_path: text,
      width: { type: "integer", description: "Pixels" },
      height: { type: "integer", description: "Pixels" },
      keep_aspect_ratio: { type: "boolean", default: true },
    },
    ["input_path", "width"],
  ),
  tool(
    "translate",
    "Translate text into another language.",
    { text, target_language: text, source_language: { type: "string", description: "Detected if left out" } },
    ["text", "target_language"],
  ),
  tool(
    "http_request",
    "Make an HTTP request and return the response.",
    {
      url: { type: "string", format: "uri" },
      method: { type: "string", enum: ["GET", "POST", "PUT", "DELETE"], default: "GET" },
      headers: { type: "object", additionalProperties: text },
      body: text,
      timeout_seconds: { type: "integer", default: 30 },
    },
    ["url"],
  ),
  tool(
    "convert_units",
    "Convert a value between units of measurement.",
    {
      value: { type: "number" },
      from: { type: "string", description: "Unit, e.g. km" },
      to: { type: "string", description: "Unit, e.g. mi" },
    },
    ["value", "from", "to"],
  ),
  tool(
    "describe_numbers",
    "Compute a statistic of a list of numbers.",
    {
      numbers: { type: "array", items: { type: "number" } },
      statistic: { type: "string", enum: ["mean", "median", "sum", "max", "min"] },
    },
    ["numbers", "statistic"],
  ),
  tool(
    "change_case",
    "Change the case of a text.",
    {
      text,
      case: { type: "string", enum: ["camel", "snake", "kebab", "upper", "lower"] },
    },
    ["text", "case"],
  ),
];
