-- Keeps what nvim-dap and its adapters say to each other in $SPOKEN, a JSON object a line, each with its session.
-- Of what nvim-dap says it is kept, too, which line made it say so; none did, where a person pressed something.
local rpc = require("dap.rpc")
local Session = require("dap.session")

local kept = io.open(vim.env.SPOKEN, "w")
local lines = 0
local cause -- the line whose handler runs
local speaker -- the session that says something
local unanswered = {} -- for each session, how many of its requests
local listening = {}

local function keep(line)
  lines = lines + 1
  kept:write(vim.json.encode(line), "\n")
  kept:flush()
  return lines
end

local because_of = function(line, act)
  local before = cause
  cause = line
  local fine, failure = pcall(act)
  cause = before
  if not fine then error(failure, 0) end
end

local with_length = rpc.msg_with_content_length
rpc.msg_with_content_length = function(text)
  keep({ session = speaker, cause = cause, said = text })
  return with_length(text)
end

local request, response, handle = Session.request, Session.response, Session.handle_body

Session.request = function(self, ...)
  speaker = self.id
  unanswered[self] = (unanswered[self] or 0) + 1
  return request(self, ...)
end

Session.response = function(self, ...)
  speaker = self.id
  return response(self, ...)
end

Session.handle_body = function(self, text)
  local line = keep({ session = self.id, heard = text })
  local is_answer = vim.json.decode(text).type == "response"
  local schedule = vim.schedule
  vim.schedule = function(act)
    schedule(function()
      because_of(line, act)
      if is_answer then unanswered[self] = unanswered[self] - 1 end
    end)
  end
  because_of(line, function() handle(self, text) end)
  vim.schedule = schedule
end

-- Whether every request of a session that goes on is answered, and nvim-dap has done with the answers.
function listening.settled()
  for session, count in pairs(unanswered) do
    if count > 0 and not session.closed then return false end
  end
  return true
end

return listening
