import type { LineRule, Match, Risk } from "./finding.ts";
import { isRunSubstitution, readPipeline, runsInput, type Pipeline } from "./pipeline.ts";

const cure = "Ship the code in the skill, or download it, check its digest, and run it in a step of its own";

/** Code that is fetched from the network and run at once. */
export const downloadRule: LineRule = {
  trigger:
    /curl|wget|iwr |irm |\biex\b|invoke-e|mshta|regsvr32|certutil|bitsadmin|downloadstring|downloadfile|eval\b|exec\s{0,4}\(|loadstring|new function|runin(?:this|new)context/i,
  find: (line) => [...findShellDownloads(line), ...findPatterns(line)],
};

const fetcher = /(?<![\w./-])(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod)(?:\.exe)?(?=\s)/giu;
const target =
  /(?:https?|ftp):\/\/[^\s"'`)|]{1,500}|\$\{?\w{1,60}|(?<=\s["']?)[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}\/[\w./-]{1,200}/u;

function findShellDownloads(line: string): Match[] {
  const matches: Match[] = [];
  for (let from = 0; ;) {
    fetcher.lastIndex = from;
    const found = fetcher.exec(line);
    if (found === null) return matches;
    const pipeline = readPipeline(line, found.index);
    from = pipeline.end;
    const [url] = target.exec(pipeline.parts[0] ?? "") ?? [];
    if (url === undefined) continue;
    const runs = pipeline.parts.slice(1).some(runsInput) || isRunSubstitution(line, found.index);
    if (runs || isRunLater(line, pipeline)) matches.push(toMatch(url, found.index, pipeline.end));
  }
}

const runsFile =
  /^\s{0,9}(?:sudo\s{1,4})?(?:(?:ba|z|da)?sh\s{1,4}(?!-)|python[\d.]{0,6}\s{1,4}|source\s{1,4}|\.\s{1,4})?((?:\.{0,2}\/|\$|~)?[\w./${}~-]{1,200})/u;
const mostCommands = 5;

/** `curl -o tool https://… && chmod +x tool && ./tool`: a command that follows is the file that was fetched. */
function isRunLater(line: string, { parts, end }: Pipeline): boolean {
  const fetched = parts[0] ?? "";
  const commands = line
    .slice(end, end + 600)
    .split(/&&|;/u)
    .slice(0, mostCommands);
  for (const command of commands) {
    const [whole = "", path = ""] = runsFile.exec(command) ?? [];
    const isRun = /^(?:\.{0,2}\/|\$|~)/u.test(path) || whole.trim() !== path;
    const [name = ""] = /[^/]*$/u.exec(path) ?? [];
    if (isRun && name.length > 1 && fetched.includes(name)) return true;
  }
  return false;
}

/** Installers that many know; they are downloads that run all the same. */
const wellKnown = new Set([
  ...[
    "astral.sh",
    "bun.sh",
    "bun.com",
    "claude.ai",
    "cli.github.com",
    "code.claude.com",
    "deno.land",
    "fnm.vercel.app",
  ],
  ...["foundry.paradigm.xyz", "get.docker.com", "get.helm.sh", "get.pnpm.io", "get.sdkman.io", "get.volta.sh"],
  ...["install.python-poetry.org", "mise.run", "nixos.org", "ollama.com", "pixi.sh", "bootstrap.pypa.io", "deno.com"],
  ...[
    "sh.rustup.rs",
    "sdk.cloud.google.com",
    "starship.rs",
    "install.determinate.systems",
    "rclone.org",
    "just.systems",
  ],
  ...["get.k3s.io", "fly.io", "cursor.com", "opencode.ai", "get.rvm.io", "zed.dev", "tailscale.com"],
]);
const wellKnownPath =
  /^https:\/\/raw\.githubusercontent\.com\/(?:Homebrew\/install|nvm-sh\/nvm|helm\/helm|ohmyzsh\/ohmyzsh)\//u;
const anyoneCanWrite = /(?:transfer\.sh|bit\.ly|tinyurl\.com|is\.gd|ngrok\.|webhook\.site)/iu;
/** Pages on which anyone can put a text. */
export const pasteSite =
  /(?:pastebin\.com|paste\.(?:ee|rs|mozilla\.org)|dpaste\.(?:com|org)|rentry\.(?:co|org)|glot\.io|hastebin\.com|justpaste\.it|telegra\.ph|controlc\.com|ghostbin\.)/iu;

function toMatch(url: string, start: number, end: number): Match {
  const [, host = ""] = /^https?:\/\/([^/:?#\s]{1,253})/iu.exec(url) ?? [];
  const message = `Downloads code from ${host === "" ? "somewhere" : host} and runs it`;
  return { code: "download-and-run", risk: toRisk(url, host), message, cure, start, end };
}

function toRisk(url: string, host: string): Risk {
  const plain = /^(?:http|ftp):/iu.test(url);
  if (!plain && (wellKnown.has(host.toLowerCase()) || wellKnownPath.test(url))) return "low";
  return plain || /^(?:\d{1,3}\.){3}\d{1,3}$/u.test(host) || anyoneCanWrite.test(url) || pasteSite.test(url)
    ? "high"
    : "medium";
}

const call =
  "(?:requests|httpx|session|client|axios|got|https?|urllib\\d?(?:\\.request)?|Net::HTTP|LWP::Simple)(?:\\.|::|->)(?:get|post|request|urlopen)";
const download = `(?:(?:${call}|axios|urlopen|fetch|URI\\.open|game:HttpGet|HttpGet)\\b|(?:open|file_get_contents)\\s{0,4}\\(\\s{0,4}["']https?:)`;
const run = "(?<![\\w.])(?:exec|eval|instance_eval|loadstring|new Function|runInThisContext|runInNewContext)";

const patterns: readonly { readonly pattern: RegExp; readonly message: string }[] = [
  {
    // exec(requests.get(…).text), eval(await (await fetch(…)).text()), new Function(await fetch(…))
    pattern: new RegExp(
      `${run}\\s{0,4}\\(?\\s{0,4}(?:await\\s{1,4}|\\(\\s{0,4}|compile\\s{0,4}\\(\\s{0,4}){0,5}${download}`,
      "u",
    ),
    message: "Runs code that it fetches from the network",
  },
  {
    pattern:
      /\b(?:iex|invoke-expression)\b[\s(&{"'$]{0,10}(?:iwr|irm|curl|wget|invoke-webrequest|invoke-restmethod|new-object\s{1,4}(?:system\.)?net\.webclient)\b/iu,
    message: "Runs code that it fetches from the network",
  },
  {
    pattern: /\.DownloadString\s{0,4}\([^)\n]{1,300}\)[^\n]{0,40}\|\s{0,4}(?:iex|invoke-expression)\b/iu,
    message: "Runs code that it fetches from the network",
  },
  {
    pattern: /\.DownloadFile\s{0,4}\([^\n]{1,300}\b(?:Start-Process|Invoke-Item)\b/iu,
    message: "Downloads a program and starts it",
  },
  {
    pattern:
      /\b(?:mshta(?:\.exe)?\s{1,4}["']?https?:|regsvr32(?:\.exe)?\s[^\n]{0,80}\/i:https?:|certutil(?:\.exe)?\s[^\n]{0,40}-urlcache\b|bitsadmin(?:\.exe)?\s[^\n]{0,40}\/transfer\b)/iu,
    message: "Fetches code with a system program that is not made for it",
  },
];

function findPatterns(line: string): Match[] {
  const matches: Match[] = [];
  for (const { pattern, message } of patterns) {
    const found = pattern.exec(line);
    if (found === null) continue;
    const place = { start: found.index, end: found.index + found[0].length };
    matches.push({ code: "download-and-run", risk: "high", message, cure, ...place });
  }
  return matches;
}
