# Talk to Kitbag from a Ruby tool.
#
#   require "kitbag"
#
#   Kitbag.progress("reading", done: 1, total: 10)   # how far the work is
#   Kitbag.log("found 3 files", { files: 3 })        # for whoever watches; the model does not see it
#   Kitbag.stream("first part\n")                    # a piece of the output, before the end
#   Kitbag.spend(0.002)                              # this call cost so much, or so much more: US dollars
#   count = Kitbag.state.get("count") || 0           # kept from one call to the next, for this tool
#   Kitbag.state.set("count", count + 1, expires_in_ms: 3_600_000)
#   Kitbag.skill_state.list("user/")                 # shared by all tools of the skill
#   text = Kitbag.call("read-page", { url: url })    # another tool; raises Kitbag::Error if it fails
#   token = Kitbag.secret("GITHUB_TOKEN")            # nil if nobody gave it; needs the permission env
#   name = Kitbag.user                               # who made the call; nil if it names no user
#
# The result of the tool is what it prints. Safe to use from several threads: they wait for each other.
require "json"

module Kitbag
  # What Kitbag answered when it could not do what it was asked for.
  class Error < StandardError
    attr_reader :code, :details

    def initialize(message, code = "kitbag-missing", details = nil)
      super(message)
      @code = code
      @details = details
    end
  end

  # What is kept from one call to the next.
  class State
    def initialize(scope)
      @scope = scope
    end

    def get(key)
      entry = read(key)
      entry && entry["value"]
    end

    # The value with its version, or nil.
    def read(key)
      ask("read", key: key)
    end

    # Answers with the new version.
    def set(key, value, expires_in_ms: nil)
      ask("set", key: key, value: value, expiresInMs: expires_in_ms)
    end

    # Answers whether there was something to delete.
    def delete(key)
      ask("delete", key: key)
    end

    # Entries with key, value and version.
    def list(prefix = "", after: nil, limit: nil)
      ask("list", prefix: prefix, after: after, limit: limit)
    end

    # Writes only if the version is still there (0: nothing is); answers whether it did. { version: version } is the same;
    # { value: old } writes only over this value.
    def compare_and_set(key, version, value, expires_in_ms: nil)
      expected = { version: version }
      expected = version.key?(:value) ? { expected: version[:value] } : version if version.is_a?(Hash)
      ask("compareAndSet", key: key, value: value, expiresInMs: expires_in_ms, **expected)
    end

    private

    def ask(method, **params)
      Kitbag.send(:request, "state.#{method}", scope: @scope, **params)
    end
  end

  @lock = Mutex.new
  @last_id = 0
  @state = State.new("tool")
  @skill_state = State.new("skill")

  class << self
    attr_reader :state, :skill_state

    # Whether this script runs in Kitbag.
    def available?
      ENV.key?("KITBAG_FD")
    end

    def progress(message = nil, done: nil, total: nil)
      notify("progress", message: message, done: done, total: total)
    end

    def log(message, data = nil)
      notify("log", message: message.to_s, data: data)
    end

    def stream(chunk)
      notify("stream", chunk: chunk)
    end

    def spend(cost_usd)
      notify("spend", costUsd: cost_usd)
    end

    def call(tool, input = {})
      request("call", tool: tool, input: input)
    end

    def secret(name)
      request("secret", name: name)
    end

    def user
      request("user")
    end

    private

    def channel
      unless available?
        raise Error, "This script does not run in Kitbag: KITBAG_FD is not set. Call it with: kitbag call <skill/tool>"
      end
      @channel ||= IO.for_fd(Integer(ENV["KITBAG_FD"]), "r+b", autoclose: false).tap { |io| io.sync = true }
    end

    def write(message)
      channel.write(JSON.generate(message) + "\n")
    rescue SystemCallError
      raise Error.new("Kitbag does not listen any more", "kitbag-gone")
    end

    def notify(method, **params)
      @lock.synchronize { write({ jsonrpc: "2.0", method: method, params: params }) }
      nil
    end

    def request(method, **params)
      answer = @lock.synchronize do
        own = (@last_id += 1)
        write({ jsonrpc: "2.0", id: own, method: method, params: params })
        read_answer(own)
      end
      error = answer["error"]
      return answer["result"] if error.nil?
      data = error["data"] || {}
      raise Error.new(error["message"], data["code"] || "rpc", data["details"])
    end

    def read_answer(own)
      loop do
        line = channel.gets
        raise Error.new("Kitbag does not answer any more", "kitbag-gone") if line.nil?
        answer = JSON.parse(line)
        # Answers without an id tell of messages that could not be read.
        return answer if [own, nil].include?(answer["id"])
      end
    end
  end
end
