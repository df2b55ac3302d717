import { call, parameter, tool, type LocalRequest } from "./request.ts";

const boolean = parameter("boolean");
const integer = parameter("integer");
const string = parameter("string");

/** The tools of a radio station. */
export const radioTools = [
  tool("find-track", "Finds tracks in the archive by title or artist", {
    title: string("words of the title"),
    artist: string("who plays it"),
  }),
  tool(
    "queue-track",
    "Puts a track into the queue of a show",
    {
      track: integer("the number of the track"),
      show: string("which show", { enum: ["morning", "noon", "evening", "night"] }),
    },
    ["track", "show"],
  ),
  tool(
    "show-playlist",
    "Shows what a show has played",
    {
      show: string("which show", { enum: ["morning", "noon", "evening", "night"] }),
      date: string("the day", { format: "date" }),
    },
    ["show"],
  ),
  tool(
    "set-volume",
    "Sets the volume of a studio",
    { studio: string("the studio"), percent: integer("0 to 100", { minimum: 0, maximum: 100 }) },
    ["studio", "percent"],
  ),
  tool("listener-count", "Tells how many people are listening now", {}),
  tool(
    "book-studio",
    "Books a studio for a day",
    { studio: string(), day: string("the day", { format: "date" }), live: boolean("for a live broadcast") },
    ["studio", "day"],
  ),
  tool(
    "convert-audio",
    "Converts an audio file into another format",
    {
      file: string("path of the audio file"),
      format: string("the new format", { enum: ["mp3", "flac", "ogg", "wav"] }),
      bitrate: integer("kilobits per second"),
    },
    ["file", "format"],
  ),
  tool("measure-loudness", "Measures the loudness of an audio file", { file: string("path of the audio file") }, [
    "file",
  ]),
  tool("remove-track", "Removes a track from the archive", { track: integer("the number of the track") }, ["track"]),
  tool("split-text", "Splits a text into sentences", { text: string("the text") }, ["text"]),
];

export const radioRequests: readonly LocalRequest[] = [
  { ask: 'find tracks by artist "Nina Simone"', want: call("find-track", { artist: "Nina Simone" }) },
  { ask: "find the track title: Feeling Good", want: call("find-track", { title: "Feeling Good" }) },
  { ask: "queue track 881 for the evening show", want: call("queue-track", { track: 881, show: "evening" }) },
  {
    ask: "show the playlist of the morning show on 2026-11-12",
    want: call("show-playlist", { show: "morning", date: "2026-11-12" }),
  },
  { ask: "how many people are listening now?", want: call("listener-count", {}) },
  { ask: "set the volume of studio B to 40 percent", want: call("set-volume", { studio: "B", percent: 40 }) },
  {
    ask: 'book studio "A" for 2026-12-01, live',
    want: call("book-studio", { studio: "A", day: "2026-12-01", live: true }),
  },
  {
    ask: "convert jingles/intro.wav to mp3",
    want: call("convert-audio", { file: "jingles/intro.wav", format: "mp3" }),
  },
  { ask: "how loud is interview.flac?", want: call("measure-loudness", { file: "interview.flac" }) },
  {
    ask: "measure the loudness of a.mp3 then convert b.wav to ogg",
    want: [
      ["measure-loudness", { file: "a.mp3" }],
      ["convert-audio", { file: "b.wav", format: "ogg" }],
    ],
  },
  {
    ask: "split this into sentences: Hello there. How are you?",
    want: call("split-text", { text: "Hello there. How are you?" }),
  },
  { ask: "remove track 12", want: call("remove-track", { track: 12 }) },
  { ask: "book a studio for Friday", want: "ask" },
  { ask: "queue track 5", want: "ask" },
  { ask: "should I remove track 12?", want: "decline" },
  { ask: "the volume in studio B was 40 percent", want: "decline" },
  { ask: "what is the capital of Peru", want: "decline" },
  { ask: "remove all the dust from studio B", want: "decline" },
];
