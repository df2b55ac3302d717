#!/usr/bin/env lua
-- Take spaces off the ends of lines, in place.
-- Usage: trim.lua <file>
local path = arg[1]
if not path then
  io.stderr:write("Usage: trim.lua <file>\n")
  os.exit(1)
end
local lines, changed = {}, 0
for line in io.lines(path) do
  local short = line:gsub("%s+$", "")
  if short ~= line then changed = changed + 1 end
  lines[#lines + 1] = short
end
local out = assert(io.open(path, "w"))
out:write(table.concat(lines, "\n"), "\n")
out:close()
print(changed .. " lines changed")
