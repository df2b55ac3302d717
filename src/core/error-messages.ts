import type { ErrorCode, ErrorDetails } from "./error-details.ts";
import { problemList, quote, toWord, whenToRetry, withStatus, oldestNode, sayUntilThen } from "./error-texts.ts";

/** What each failure says. One row a failure; its facts are a row of {@link ErrorDetails}. */
export const messages: { readonly [Code in ErrorCode]: (details: ErrorDetails[Code]) => string } = {
  "address-invalid": ({ address }) =>
    `Cannot read the address ${quote(address)}: write "tool" or "owner/tool", in letters, digits, ".", "_" and "-"`,
  "answer-cut": ({ run, model, times }) =>
    `Cannot finish the answer of ${quote(model)} in the run ${quote(run)}: the output limit cut it off ${times === 1 ? "once" : `${times} times`}; raise "maxOutputTokens" or "maxContinuations", or ask for less at once; fork the run to go on from there`,
  "answer-invalid": ({ model, problems }) =>
    `Cannot use the answer of ${quote(model)}: it does not match the output schema (${problemList(problems)}); simplify the schema, or use another model`,
  "answer-refused": ({ run, model }) =>
    `Cannot get an answer of ${quote(model)} in the run ${quote(run)}: the model refused to answer, or its provider filtered the answer; change the task, or ask another model`,
  "approval-denied": ({ tool, reason }) => `Cannot call ${quote(tool)}: the approval was denied (${reason})`,
  "approval-failed": ({ tool, reason }) => `Cannot call ${quote(tool)}: the approval failed (${reason})`,
  "approval-missing": ({ tool }) =>
    `Cannot call ${quote(tool)}: it needs an approval, and there is no approval function; pass "approve" to createWorkspace or to the call`,
  "audit-broken": ({ position, problem }) =>
    `Cannot append to the audit: entry ${position}: ${problem}; verify it, and make a new anchor only if the store was restored from a backup, or replaced by a copy`,
  "audit-key-invalid": ({ key, reason }) => `Cannot use the key of the audit, ${quote(key)}: ${reason}`,
  "author-denied": ({ tool, caller, author, scopes }) =>
    `Cannot call ${quote(tool)} from ${quote(caller)}: ${quote(author)}, who made ${quote(caller)}, has none of the scopes ${scopes.join(", ")}; let a user who has one make the tool again`,
  "budget-spent": ({ tool, limit }) =>
    `Cannot call ${quote(tool)}: this call and the calls inside it have used their ${limit} calls; raise "maxCalls" if that is intended`,
  "build-failed": ({ source, reason, lines }) => [`Cannot build ${quote(source)}: ${reason}`, ...lines].join("\n"),
  "call-cancelled": ({ tool, reason }) => `Cannot finish ${quote(tool)}: the call was cancelled (${reason})`,
  "call-crashed": ({ tool, reason }) =>
    `Cannot finish ${quote(tool)}: Kitbag itself failed (${reason}); please report this as a bug`,
  "call-cycle": ({ tool, chain, limit }) =>
    `Cannot call ${quote(tool)}: it is already in this chain of nested calls ${limit} times (${chain.join(" → ")})`,
  "call-depth": ({ tool, chain, limit }) =>
    `Cannot call ${quote(tool)}: nested calls may go ${limit} deep (${chain.join(" → ")})`,
  "call-missing": ({ call }) =>
    `Cannot find the call ${quote(call)}: the log has none with this id; kitbag stats lists the slowest calls with theirs`,
  "call-timeout": ({ tool, limitMs, counted, untilThen }) =>
    `Cannot finish ${quote(tool)}: ${counted === "computing" ? `it has computed for longer than ${limitMs} ms, not counting what it waited` : `it was still running after ${limitMs} ms`}${sayUntilThen(untilThen)}`,
  "call-uncertain": ({ tool, key }) =>
    key === undefined
      ? `Cannot tell whether ${quote(tool)} was done: it was running when its process died, and may have happened or not; find out before you call it again`
      : `Cannot run ${quote(tool)} again with the key ${quote(key)}: it was running when its process died, and may have done its work; find out, then call it with another key`,
  "call-unreadable": ({ tool, reason }) => `Cannot call ${quote(tool)}: ${reason}`,
  "caller-read-only": ({ tool, caller }) =>
    `Cannot call ${quote(tool)} from ${quote(caller)}: ${quote(caller)} is marked read-only and ${quote(tool)} is not; mark ${quote(tool)} as read-only if it changes nothing, or take the mark away from ${quote(caller)}`,
  "code-failed": ({ tool, reason }) => `Cannot finish the program of ${quote(tool)}: ${reason}`,
  "compiler-missing": ({ source, language, cure }) =>
    `Cannot build ${quote(source)}: no compiler for ${language} is installed on this machine; install one: ${cure}`,
  "config-invalid": ({ path, reason }) => `Cannot use ${quote(path)}: ${reason}`,
  "config-missing": ({ path }) =>
    `Cannot find ${quote(path)}, and there are no skills here: start a project with kitbag init, or name a folder of skills with --skills, or a module with --module`,
  "config-untrusted": ({ path, changed, keys = [] }) => {
    const sets = keys.length === 0 ? "" : `it sets ${keys.join(", ")}`;
    const power = `${sets === "" ? "it" : `${sets}, which`} can start programs, send prompts and keys elsewhere, or loosen limits,`;
    return changed.length === 0
      ? `Cannot load ${quote(path)}: ${path.endsWith(".json") ? power : "it runs code in this process"} and is not trusted; read it, then run: kitbag trust ${path}`
      : `Cannot load ${quote(path)}: changed since it was trusted: ${changed.join(", ")}; ${sets === "" ? "" : `${sets}; `}read the change, then run: kitbag trust ${path}`;
  },
  "conversation-damaged": ({ conversation, reason }) =>
    `Cannot read the conversation ${quote(conversation)}: ${reason}; restore it from a backup, or delete it with deleteConversation`,
  "debug-failed": ({ tool, reason }) => `Cannot debug ${quote(tool)}: ${reason}`,
  "dead-letter-busy": ({ id }) =>
    `Cannot retry the failed call ${quote(id)}: another caller is retrying it now; kitbag dead list shows whether it failed again`,
  "dead-letter-missing": ({ id }) =>
    `Cannot find the failed call ${quote(id)}: no failed call has this id; kitbag dead list shows them`,
  "dependency-failed": ({ language, package: name, reason, cure }) =>
    `Cannot install ${name === undefined ? `the ${language} packages` : `the ${language} package ${quote(name)}`}: ${reason}; ${cure}`,
  "dependency-refused": ({ dependency, file, reason }) => `Cannot use ${quote(dependency)} of ${file}: ${reason}`,
  "descriptors-exhausted": ({ tool, reason }) =>
    `Cannot finish ${quote(tool)}: this process, or the machine, has as many files and connections open as it may (${reason}); raise the limit before the start (ulimit -n 4096), or make fewer calls at once`,
  "draft-not-found": ({ id, known }) =>
    `Cannot find the draft ${quote(id)}: ${known.length === 0 ? "no draft waits for approval" : `the waiting drafts are ${known.join(", ")}`}`,
  "draft-refused": ({ name, reasons }) => `Cannot make ${quote(name)}: ${reasons.join("\n")}`,
  "gate-unprotected": ({ host }) =>
    `Cannot listen on ${quote(host)}: every program that can reach this address could call the tools; ask for a token (kitbag token add <name>, --token, KITBAG_TOKEN) or OAuth, or listen on 127.0.0.1`,
  "embedder-missing": ({ what, cure }) => `Cannot use ${what}: it needs an embedder; ${cure}`,
  "file-denied": ({ tool, file, reason }) => `Cannot give the file ${quote(file)} to ${quote(tool)}: ${reason}`,
  "grant-changed": ({ path, found, cure }) =>
    `Cannot enforce the permissions of a tool at ${quote(path)}: ${found}; ${cure}`,
  "guard-refused": ({ guard, place, reason }) =>
    `Cannot use the ${place}: the guard ${quote(guard)} refused it (${reason})`,
  "image-invalid": ({ image, reason }) => `Cannot use the image ${quote(image)}: ${reason}`,
  "import-failed": ({ source, reason }) => `Cannot import ${quote(source)}: ${reason}`,
  "import-refused": ({ source, entry, reason }) =>
    `Cannot import ${quote(source)}: ${entry === undefined ? "" : `the entry ${quote(entry)} `}${reason}`,
  "import-taken": ({ name, path, cure }) => `Cannot add ${quote(name)}: ${path} is there already; ${cure}`,
  "injection-missing": ({ tool, names }) =>
    `Cannot call ${quote(tool)}: no value was given for the injected ${names.map(quote).join(", ")}; pass "injected" to createWorkspace, to add or to the call`,
  "home-unusable": ({ home, reason }) =>
    `Cannot use the folder ${quote(home)} of Kitbag: ${reason}; set KITBAG_HOME to a folder that you can write`,
  "hook-failed": ({ hook, reason }) => `Cannot continue the run: the hook ${quote(hook)} failed (${reason})`,
  "input-invalid": ({ tool, problems }) => `Cannot call ${quote(tool)}: the input is wrong: ${problemList(problems)}`,
  "interpreter-missing": ({ tool, interpreter, cure }) =>
    `Cannot run ${quote(tool)}: ${quote(interpreter)} is not installed on this machine; ${cure}`,
  "job-lost": ({ queue, job, attempt }) =>
    `Cannot finish the job ${quote(job)} of the queue ${quote(queue)}: the lease of attempt ${attempt} is over; stop: another worker may have the job now`,
  "lease-lost": ({ run, epoch, reason }) =>
    `Cannot write to the run ${quote(run)}: its lease of epoch ${epoch} is lost (${reason}); stop, and open it again to go on`,
  "limit-reached": ({ tool, rate, retryAfterMs }) =>
    `Cannot call ${quote(tool)} now: the limit is ${rate}; retry after ${Math.ceil(retryAfterMs / 100) / 10} s`,
  "listen-failed": ({ address, reason }) => `Cannot listen on ${quote(address)}: ${reason}`,
  "mcp-failed": ({ server, reason }) => `Cannot use the MCP server ${quote(server)}: ${reason}`,
  "memory-exceeded": ({ tool, limitBytes, untilThen }) =>
    `Cannot finish ${quote(tool)}: it used more memory than its limit of ${limitBytes} bytes and was stopped; give the tool less data, or raise its limit${sayUntilThen(untilThen)}`,
  "memory-full": ({ what, limit }) =>
    `Cannot remember more: the memory holds at most ${limit} ${what}; forget what is no longer needed, or raise the limit`,
  "memory-invalid": ({ what, found, expected }) => `Cannot use ${what}: expected ${expected}, found ${found}`,
  "middleware-failed": ({ tool, reason }) => `Cannot call ${quote(tool)}: a middleware failed: ${reason}`,
  "model-context-exceeded": ({ model, status, reason }) =>
    `Cannot ask ${quote(model)}: the prompt is too long for it (${withStatus(reason, status)}); shorten it, or use a model with a larger context`,
  "model-denied": ({ model, status, reason, cure }) =>
    `Cannot ask ${quote(model)}: the provider rejects this API key (${withStatus(reason, status)}); ${cure}`,
  "model-failed": ({ model, status, reason }) =>
    `Cannot get an answer from ${quote(model)}: ${withStatus(reason, status)}`,
  "model-key-missing": ({ model, variables }) =>
    `Cannot use the model ${quote(model)}: it needs a key; set ${variables.join(" or ")}, or pass "apiKey"`,
  "model-name-invalid": ({ model, reason }) => `Cannot read ${quote(model)} as the name of a model: ${reason}`,
  "model-overloaded": ({ model, status, reason, retryAfterMs }) =>
    `Cannot ask ${quote(model)} now: the provider accepts no more requests (${withStatus(reason, status)}); ${whenToRetry(retryAfterMs)}, or use another model`,
  "model-refused": ({ model, status, reason, cure }) =>
    `Cannot ask ${quote(model)}: the provider does not accept the question (${withStatus(reason, status)}); ${cure}`,
  "model-timeout": ({ model, phase, limitMs }) =>
    `Cannot wait for ${quote(model)} any longer: no ${phase} in ${limitMs} ms; raise the time limit, or use another model`,
  "model-unavailable": ({ model, status, reason, retryAfterMs }) =>
    `Cannot get an answer from ${quote(model)}: ${withStatus(reason, status)}; ${whenToRetry(retryAfterMs)}, or use another model`,
  "model-unmatched": ({ need, reasons }) => [`Cannot choose a model: ${need}`, ...reasons].join("\n"),
  "model-unsupported": ({ model, reason }) => `Cannot use the model ${quote(model)}: ${reason}`,
  "name-not-found": ({ what, name, cure }) => `Cannot find the ${what} ${quote(name)}: ${cure}`,
  "network-failed": ({ target, reason }) => `Cannot finish the request to ${quote(target)}: ${reason}`,
  "network-refused": ({ target, reason }) => `Cannot connect to ${quote(target)}: ${reason}`,
  "network-rule-invalid": ({ rule, reason }) => `Cannot use the network rule ${quote(rule)}: ${reason}`,
  "node-unsupported": ({ found }) =>
    `Cannot load Kitbag on Node ${found}: it needs Node ${oldestNode} or newer; install it and start the program again`,
  "option-invalid": ({ option, found, expected }) =>
    `Cannot use ${quote(option)}: found ${found}, expected ${expected}`,
  "output-flooded": ({ tool, limitBytes, untilThen }) =>
    `Cannot take the output of ${quote(tool)}: it printed more than ${limitBytes} bytes and was stopped; write to a file, or print less${sayUntilThen(untilThen)}`,
  "output-invalid": ({ tool, problems }) =>
    `Cannot use the output of ${quote(tool)}: it is wrong: ${problemList(problems)}`,
  "output-missing": ({ handle }) =>
    `Cannot read the output ${quote(handle)}: no output is kept under this handle; call the tool again`,
  "output-too-large": ({ tool, limitBytes }) =>
    `Cannot use the output of ${quote(tool)}: it is larger than ${limitBytes} bytes; ask the tool for less, or in parts`,
  "owner-differs": ({ kind, name }) =>
    `Cannot change the ${kind} ${quote(name)}: another user made it; make one of your own under another name`,
  "owner-invalid": ({ owner, reason }) => `Cannot use the owner ${quote(owner)}: ${reason}`,
  "package-missing": ({ peer, user }) =>
    `Cannot use ${user}: it needs the package ${quote(peer)}, which is not installed; run: npm install ${peer}`,
  "permission-refused": ({ tool, permission, reason }) =>
    `Cannot run ${quote(tool)} with the permission ${permission}: ${reason}`,
  "pipeline-invalid": ({ pipeline, problems }) =>
    `Cannot define the pipeline ${quote(pipeline)}: ${problemList(problems)}`,
  "program-failed": ({ reason }) => `Cannot go on: ${reason}`,
  "price-unknown": ({ model }) =>
    `Cannot apply maxCost or a quota in dollars to ${quote(model)}: its price is not known; set it (prices in createAgent or in kitbag.config.ts), or leave the limit out`,
  "provider-missing": ({ model, peer, variables }) =>
    `Cannot use the model ${quote(model)}: the package ${quote(peer)} is not installed; run: npm install ${peer}${
      variables.length === 0 ? "" : `, and set ${variables.join(" or ")}`
    }`,
  "provider-unknown": ({ provider, nearest, known }) =>
    `Cannot find the provider ${quote(provider)}: ${
      nearest.length === 0
        ? `there are ${known.join(", ")}; for any other, pass a model of its AI SDK package`
        : `did you mean ${nearest.map(quote).join(" or ")}?`
    }`,
  "quota-reached": ({ user, quota, limit, used, startsAgain, ran = false }) => {
    const what = ran ? "Cannot keep the output of the tool, which did run" : "Cannot use more";
    const unit = quota === "concurrent" ? "calls" : quota;
    const most = `${limit} ${limit === 1 ? unit.replace(/s$/u, "") : unit}`;
    const cure = `The operator can raise it: kitbag quota set ${toWord(user)} --${quota} <amount>`;
    if (quota === "concurrent") {
      return `${what}: the user ${quote(user)} may have ${most} running at once; wait until a call ends. ${cure}`;
    }
    if (startsAgain === undefined) {
      return `${what}: the user ${quote(user)} keeps ${used} of at most ${most}, and this would be more; delete state, or wait until kept outputs are deleted. ${cure}`;
    }
    return `${what}: the user ${quote(user)} has used ${used} of ${most} a day; counting starts again at ${startsAgain}. ${cure}`;
  },
  "recording-diverged": ({ what, difference }) =>
    `Cannot answer from the recording: ${what}; record it again if that is right\n${difference}`,
  "request-refused": ({ reason }) => `Cannot answer the request: ${reason}`,
  "run-damaged": ({ run, line, problem, soundStep }) =>
    `Cannot read the run ${quote(run)}: line ${line} of its journal is damaged (${problem}); ${
      soundStep === undefined
        ? ""
        : `continue from the last complete step before it with kitbag runs fork ${run} --step ${soundStep}, or `
    }restore the store from a backup`,
  "run-ended": ({ run }) =>
    `Cannot continue the run ${quote(run)}: it has ended; read it, fork it to continue from one of its steps, or start a new one`,
  "run-incomplete": ({ run, missing, reason }) =>
    `Cannot continue the run ${quote(run)} without ${missing}: ${reason}; give it the tools and skills that it was started with`,
  "run-leased": ({ run, worker, until }) =>
    `Cannot open the run ${quote(run)}: the worker ${quote(worker)} has it until ${until}; wait until then, or read the run's log`,
  "run-not-found": ({ run, nearest = [] }) =>
    `Cannot find the run ${quote(run)}: it is not in this store; ${nearest.length === 0 ? "" : `did you mean ${nearest.map(quote).join(" or ")}? `}kitbag runs list shows those that are`,
  "run-paused": ({ run, approvals }) =>
    `Cannot finish the run ${quote(run)} now: ${approvals.length === 1 ? "a call waits" : "calls wait"} for approval (${approvals.join(", ")}); approve or deny with agent.decide or kitbag approvals, then resume the run`,
  "run-stopped": ({ run, reason }) =>
    `Cannot finish the run ${quote(run)}: it was stopped (${reason}); ${reason === "cancelled" || reason === "lost" ? "resume" : `${reason === "loop" ? "" : "raise the limit, and "}fork`} the run to go on`,
  "runtime-missing": ({ tool, kind, known }) =>
    `Cannot run ${quote(tool)}: it is a ${kind} tool, and this workspace only has runtimes for ${known.join(" and ")} tools; pass a runtime of the kind ${quote(kind)} to createWorkspace`,
  "sandbox-failed": ({ sandbox, reason }) =>
    `Cannot run a program in the sandbox ${quote(sandbox)}: ${reason}; see kitbag doctor`,
  "sandbox-missing": ({ tried, asked }) =>
    asked === undefined
      ? `Cannot run code that is not trusted: no sandbox works on this machine: ${tried.join("; ")}; install bubblewrap, or pass --sandbox off to run without protection`
      : `Cannot use the sandbox ${quote(asked)}: it does not work on this machine: ${tried.join("; ")}; choose another one, or leave the choice to Kitbag (see kitbag doctor)`,
  "sandbox-weak": ({ sandbox, lacks, found }) =>
    `Cannot use the sandbox ${quote(sandbox)}: ${found === undefined ? "" : `${found}; so `}it does not enforce ${lacks.join(", ")}; choose another one, or leave the choice to Kitbag (see kitbag doctor)`,
  "schema-invalid": ({ where, problems }) => `Cannot use the schema of ${where}: ${problemList(problems)}`,
  "scope-missing": ({ tool, scopes }) =>
    `Cannot call ${quote(tool)}: the token has none of the scopes ${scopes.join(", ")}; ask for a token that has one`,
  "script-changed": ({ path }) =>
    `Cannot run ${quote(path)}: the file has changed since it was checked; load the skill again, and trust it when asked`,
  "script-failed": ({ tool, code, signal, stderr, refused, hint }) =>
    `Cannot finish ${quote(tool)}: ${refused === undefined ? "" : `${refused}; so `}it ended with ${signal === undefined ? `exit code ${code}` : `the signal ${signal}`}${stderr === "" ? " and wrote nothing to stderr" : `: ${stderr}`}${hint === undefined ? "" : `\n→ ${hint}`}`,
  "session-closed": ({ action }) => `Cannot ${action}: the session was closed; open another one with openSession()`,
  "skill-broken": ({ skill, problems }) => `Cannot open the skill ${quote(skill)}: ${problemList(problems)}`,
  "skill-duplicate": ({ skill }) =>
    `Cannot add the skill ${quote(skill)}: there is already one of this name; use replaceSkill, or another name`,
  "skill-failed": ({ skill, step, reason }) => `Cannot finish ${step} of the skill ${quote(skill)}: ${reason}`,
  "skill-file-changed": ({ skill, path }) =>
    `Cannot read ${quote(path)} of the skill ${quote(skill)}: the file has changed since it was listed; load the skill again`,
  "skill-file-missing": ({ skill, path, nearest, count }) =>
    nearest.length > 0
      ? `Cannot find the file ${quote(path)} of the skill ${quote(skill)}: did you mean ${nearest.map(quote).join(" or ")}?`
      : `Cannot find the file ${quote(path)} of the skill ${quote(skill)}: it has ${count} files; read_skill lists them`,
  "skill-invalid": ({ skill, problems }) => `Cannot define the skill ${quote(skill)}: ${problemList(problems)}`,
  "skill-name-missing": ({ open }) =>
    open.length === 0
      ? "Cannot close a skill: none is open"
      : `Cannot close a skill without its name: ${open.length} are open (${open.slice(0, 8).join(", ")}); name one of them`,
  "skill-not-found": ({ skill, nearest, count }) =>
    nearest.length > 0
      ? `Cannot find the skill ${quote(skill)}: did you mean ${nearest.map(quote).join(" or ")}?`
      : `Cannot find the skill ${quote(skill)}: ${count === 0 ? "there are no skills here" : `none of the ${count} known skills has a similar name`}`,
  "skill-required": ({ skill, by }) =>
    `Cannot close the skill ${quote(skill)} yet: ${by.map(quote).join(" and ")} ${by.length === 1 ? "requires" : "require"} it; it closes with ${by.length === 1 ? "that skill" : "the last of them"}`,
  "skill-untrusted": ({ skill, directory, changed, removed }) =>
    changed.length === 0
      ? `Cannot open the skill ${quote(skill)}: ${removed === true ? "its trust was removed with kitbag trust --remove" : "its folder is not trusted"}; read it, then run: kitbag trust ${directory}`
      : `Cannot open the skill ${quote(skill)}: changed since it was trusted: ${changed.slice(0, 8).join(", ")}; read the change, then run: kitbag trust ${directory}`,
  "state-full": ({ owner, limit, limitBytes }) =>
    `Cannot keep more in the state of ${quote(owner)}: it holds at most ${limit} keys and ${limitBytes} bytes; delete keys that are no longer needed, or set an expiry`,
  "state-invalid": ({ key, problems }) => `Cannot use the state under ${quote(key)}: ${problemList(problems)}`,
  "step-failed": ({ tool, step, reason }) => `Cannot finish ${quote(tool)}: step ${quote(step)} failed: ${reason}`,
  "step-uncertain": ({ run, step }) =>
    `Cannot run the step ${quote(step)} of the run ${quote(run)} again: it was interrupted, may have happened and is not idempotent; find out, then call resolve`,
  "store-closed": ({ operation }) => `Cannot run ${operation}: the store is closed; open a new one`,
  "store-conflict": ({ where, expected, found }) =>
    `Cannot write to ${quote(where)}: expected ${expected}, found ${found}; read it again and retry`,
  "store-failed": ({ reason, ran }) =>
    `Cannot complete the call: the store failed (${reason}); the tool ${ran ? "did run" : "was not run"}`,
  "store-key-invalid": ({ key, reason }) => `Cannot use the key ${quote(key)}: ${reason}`,
  "store-newer": ({ store, version, newest }) =>
    `Cannot open the store ${quote(store)}: its schema is version ${version}, and this program supports versions up to ${newest}; use a newer kitbag, or another store`,
  "store-unaccepted": ({ store, reason, accept }) =>
    `Cannot use the store ${quote(store)}: ${reason}; if you trust it, accept it as it is: ${accept}`,
  "store-unavailable": ({ store, reason, cure, mayBeWritten }) =>
    `Cannot use the store ${quote(store)}: ${reason}${mayBeWritten ? " (what was being written may be kept)" : ""}; ${cure}`,
  "store-unsafe": ({ store, reasons, cure }) =>
    `Cannot keep anything in the store ${quote(store)}: it may forget what it has acknowledged (${reasons.join("; ")}); ${cure}`,
  "store-value-invalid": ({ where, problems }) => `Cannot keep the value in ${quote(where)}: ${problemList(problems)}`,
  "tool-ambiguous": ({ tool, addresses }) =>
    `Cannot choose a tool for ${quote(tool)}: several have this name; use one of ${addresses.join(", ")}`,
  "tool-broken": ({ tool, retryAfterMs }) =>
    `Cannot call ${quote(tool)}: it failed too often and is disabled for a while; use another tool, or retry after ${Math.ceil(retryAfterMs / 100) / 10} s`,
  "tool-deleted": ({ tool }) =>
    `Cannot use ${quote(tool)}: it was deleted; restore it (delete_tool with "undo": true), or make it again`,
  "tool-duplicate": ({ tool, owner }) =>
    `Cannot add ${quote(tool)}: ${quote(owner)} already has a tool of this name; use replace, or another name`,
  "tool-failed": ({ tool, reason }) => `Cannot finish ${quote(tool)}: the tool failed: ${reason}`,
  "tool-foreign": ({ tool }) =>
    `Cannot call ${quote(tool)}: this tool is not in the workspace; add it first, or call by address`,
  "tool-invalid": ({ tool, problems }) => `Cannot define the tool ${quote(tool)}: ${problemList(problems)}`,
  "tool-not-found": ({ tool, nearest, count, skill }) => {
    const [what, names] = [`Cannot find the tool ${quote(tool)}`, nearest.map(quote).join(" or ")];
    if (count === 0 && names === "") return `${what}: there are no tools here`;
    if (skill !== undefined)
      return `${what}: the skill ${quote(skill)} was not found, or has no tools${names === "" ? "" : `; a similar tool is ${names}`}`;
    return names === ""
      ? `${what}: none of the ${count} known tools has a similar name`
      : `${what}: did you mean ${names}?`;
  },
  "tool-not-made": ({ tool, skill, folder }) =>
    `Cannot work on ${quote(tool)}: ${folder === undefined ? `it was not made in this workspace${skill === undefined ? "" : `, but belongs to the skill ${quote(skill)}`}; only tools that were made here can be changed, tested, rolled back or deleted` : `it is a tool of the skill ${quote(String(skill))}, and changes with it: if the skill was made here, with create_skill and "replace"; else edit its files in ${folder}, then run: kitbag trust ${folder}, and kitbag test ${tool}`}`,
  "tool-quarantined": ({ tool, server, changed }) =>
    `Cannot call ${quote(tool)}: the MCP server ${quote(server)} has changed its description since it was trusted (${changed.join(", ")}); read the change, then accept it: kitbag trust --mcp ${server}`,
  "tool-unavailable": ({ tool, owner }) =>
    `Cannot call ${quote(tool)}: it belongs to the skill ${quote(owner)}, which is closed; open skill ${quote(owner)} first`,
  "tool-reserved": ({ tool, caller }) =>
    `Cannot call ${quote(tool)} from ${quote(caller)}: only a person, a model or a function of the host program may call it`,
  "tool-undeclared": ({ tool, caller, skill }) =>
    `Cannot call ${quote(tool)} from ${quote(caller)}: ${skill === undefined ? `the tool does not declare it; make it again with "uses": [${quote(tool)}]` : `the skill ${quote(skill)} does not declare it; add uses = [${quote(tool)}] to [skill] in its kitbag.toml, or "uses" in defineSkill`}`,
  "usage-invalid": ({ reason }) => reason,
  "user-unknown": ({ user }) =>
    `Cannot act for the user ${quote(user)}: the current scopes of this user are not known here; let this user do it, or pass the tokens of kitbag serve with KITBAG_TOKEN=@FILE`,
  "version-conflict": ({ address, expected, current, changed }) =>
    `Cannot change ${quote(address)}: ${expected === current ? "it has changed" : `its version is ${current} now, not ${expected} (${changed.length === 0 ? "replaced" : `changed: ${changed.join(", ")}`})`}; read it again, then repeat the change`,
  "version-not-found": ({ address, which, known }) =>
    known.length === 0
      ? `Cannot find the version ${quote(which)} of ${quote(address)}: no version of it is kept`
      : `Cannot find the version ${quote(which)} of ${quote(address)}: the latest are ${known.slice(-8).join(", ")}`,
};
