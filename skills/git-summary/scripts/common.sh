# Functions for the other scripts; source it.

fail() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit "${2:-1}"
}

need_repository() {
  command -v git >/dev/null || fail "git is not installed"
  git -C "$1" rev-parse --is-inside-work-tree >/dev/null 2>&1 ||
    git -C "$1" rev-parse --is-bare-repository >/dev/null 2>&1 || fail "$1 is not a git repository"
  git -C "$1" rev-parse --verify --quiet HEAD >/dev/null || fail "$1 has no commits yet"
}

# Git runs helpers that the repository configures; none of them is needed for reading.
git_in() {
  local folder=$1
  shift
  GIT_OPTIONAL_LOCKS=0 GIT_PAGER=cat git -c core.fsmonitor=false -c core.quotePath=false -c log.showSignature=false \
    -C "$folder" "$@"
}

# Texts as JSON, for awk.
json_functions='
function quoted(text,   out, i, c) {
  out = ""
  for (i = 1; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (c == "\\" || c == "\"") out = out "\\" c
    else if (c == "\t") out = out "\\t"
    else if (c < " ") out = out " "
    else out = out c
  }
  return "\"" out "\""
}
'
