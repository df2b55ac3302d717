# Talk to Kitbag from a Bash tool.
#
#   . "$KITBAG_SH"
#
#   kitbag_progress "reading" 1 10                # how far the work is: message, done, total
#   kitbag_log "found 3 files"                    # for whoever watches; the model does not see it
#   kitbag_stream "first part"                    # a piece of the output, before the end
#   kitbag_spend 0.002                            # this call cost so much, or so much more: US dollars
#   count=$(kitbag_state_get count) || count=0    # kept from one call to the next; fails if there is nothing
#   kitbag_state_set count "$((count + 1))"       # keeps a text; a third argument is how long, in milliseconds
#   kitbag_state_delete count
#   kitbag_state_list user/                       # the keys that begin so, one a line
#   kitbag_state_compare_and_set lock "" mine     # key, the text that must be there ("" for nothing), the new text
#   text=$(kitbag_call read-page '{"url":"…"}')   # another tool; its input and, but for texts, its output are JSON
#   token=$(kitbag_secret GITHUB_TOKEN)           # fails if nobody gave it; needs the permission env
#   name=$(kitbag_user)                           # who made the call; fails if it names no user
#
# What fails says why on stderr and has the status 1. The result of the tool is what it prints. Ask for one thing at a time: jobs in
# the background would take each other's answers.

if [ -z "${BASH_VERSION:-}" ]; then
  echo "kitbag: this file needs bash; start the script with #!/usr/bin/env bash" >&2
  return 1 2>/dev/null || exit 1
fi

_kitbag_count=0

# Writes a text as JSON.
_kitbag_quote() {
  local LC_ALL=C.UTF-8 text=$1 code control
  text=${text//\\/\\\\}
  text=${text//\"/\\\"}
  if [[ $text == *[$'\x01'-$'\x1f']* ]]; then
    for code in {1..31}; do
      printf -v control "\\x$(printf '%02x' "$code")"
      [[ $text == *"$control"* ]] && text=${text//"$control"/"\\u00$(printf '%02x' "$code")"}
    done
  fi
  printf '"%s"' "$text"
}

# Prints the text that a JSON text stands for, and any other JSON as it is.
_kitbag_print() {
  local LC_ALL=C.UTF-8 json=$1 hold=$'\x01'
  if [[ $json != \"*\" ]]; then
    printf '%s\n' "$json"
    return
  fi
  json=${json:1:${#json}-2}
  json=${json//'\\'/$hold}
  json=${json//'\"'/\"}
  json=${json//'\/'//}
  json=${json//$hold/'\\'}
  printf '%b\n' "$json"
}

_kitbag_write() {
  if [ -z "${KITBAG_FD:-}" ]; then
    echo "kitbag: this script does not run in Kitbag: KITBAG_FD is not set. Call it with: kitbag call <skill/tool>" >&2
    return 1
  fi
  { printf '%s\n' "$1" >&"$KITBAG_FD"; } 2>/dev/null || { echo "kitbag: Kitbag does not listen any more" >&2; return 1; }
}

_kitbag_notify() {
  _kitbag_write "{\"jsonrpc\":\"2.0\",\"method\":\"$1\",\"params\":$2}"
}

# Asks, and puts the answer, as JSON, into _kitbag_result.
_kitbag_request() {
  local line id
  _kitbag_count=$((_kitbag_count + 1))
  # Every $(…) counts for itself.
  id="$BASHPID-$_kitbag_count"
  _kitbag_write "{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"method\":\"$1\",\"params\":$2}" || return 1
  # Kitbag writes its answers without spaces, and in this order: jsonrpc, id, result or error. Those without an id tell of messages
  # that could not be read.
  while :; do
    if ! IFS= read -r line <&"$KITBAG_FD"; then
      echo "kitbag: Kitbag does not answer any more" >&2
      return 1
    fi
    case $line in
      '{"jsonrpc":"2.0","id":"'"$id"'",'* | '{"jsonrpc":"2.0","id":null,'*) break ;;
    esac
  done
  case $line in
    '{"jsonrpc":"2.0","id":'*',"result":'*)
      line=${line#*,\"result\":}
      _kitbag_result=${line%\}}
      ;;
    *)
      line=${line#*\"message\":}
      # The message ends at the first quotation mark that is not escaped.
      [[ $line =~ ^\"([^\"\\]|\\.)*\" ]]
      echo "kitbag: $(_kitbag_print "${BASH_REMATCH[0]:-$line}")" >&2
      return 1
      ;;
  esac
}

kitbag_progress() {
  local params
  params="{\"message\":$(_kitbag_quote "${1:-}")"
  [ -n "${2:-}" ] && params="$params,\"done\":$2"
  [ -n "${3:-}" ] && params="$params,\"total\":$3"
  _kitbag_notify progress "$params}"
}

kitbag_log() {
  _kitbag_notify log "{\"message\":$(_kitbag_quote "$*")}"
}

kitbag_stream() {
  _kitbag_notify stream "{\"chunk\":$(_kitbag_quote "$*")}"
}

kitbag_spend() {
  _kitbag_notify spend "{\"costUsd\":$(_kitbag_quote "${1:-}")}"
}

kitbag_state_get() {
  _kitbag_request state.get "{\"key\":$(_kitbag_quote "$1")}" || return 1
  [ "$_kitbag_result" = null ] && return 1
  _kitbag_print "$_kitbag_result"
}

kitbag_state_set() {
  local params
  params="{\"key\":$(_kitbag_quote "$1"),\"value\":$(_kitbag_quote "$2")"
  [ -n "${3:-}" ] && params="$params,\"expiresInMs\":$3"
  _kitbag_request state.set "$params}"
}

kitbag_state_delete() {
  _kitbag_request state.delete "{\"key\":$(_kitbag_quote "$1")}"
}

kitbag_state_list() {
  local keys key
  _kitbag_request state.keys "{\"prefix\":$(_kitbag_quote "${1:-}")}" || return 1
  keys=$_kitbag_result
  while [[ $keys =~ ^[\[,](\"([^\"\\]|\\.)*\") ]]; do
    key=${BASH_REMATCH[1]}
    keys=${keys:${#BASH_REMATCH[0]}}
    _kitbag_print "$key"
  done
}

kitbag_state_compare_and_set() {
  local params
  params="{\"key\":$(_kitbag_quote "$1"),\"value\":$(_kitbag_quote "$3")"
  if [ -n "$2" ]; then params="$params,\"expected\":$(_kitbag_quote "$2")"; else params="$params,\"version\":0"; fi
  _kitbag_request state.compareAndSet "$params}" || return 1
  [ "$_kitbag_result" = true ]
}

kitbag_call() {
  _kitbag_request call "{\"tool\":$(_kitbag_quote "$1"),\"input\":${2:-"{}"}}" || return 1
  _kitbag_print "$_kitbag_result"
}

kitbag_secret() {
  _kitbag_request secret "{\"name\":$(_kitbag_quote "$1")}" || return 1
  [ "$_kitbag_result" = null ] && return 1
  _kitbag_print "$_kitbag_result"
}

kitbag_user() {
  _kitbag_request user "{}" || return 1
  [ "$_kitbag_result" = null ] && return 1
  _kitbag_print "$_kitbag_result"
}
