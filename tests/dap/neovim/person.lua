-- A person at Neovim with nvim-dap, set up as $CONFIGURATION says: does what is in $ACTIONS, a JSON array, in $FILE.
-- What can be seen is written to $SEEN, a JSON object a line.
vim.opt.rtp:append(vim.env.NVIM_DAP)
vim.opt.swapfile = false
vim.cmd("filetype on") -- as it is where `-u NONE` does not leave it out
local dap = require("dap")
local here = vim.fn.fnamemodify(debug.getinfo(1).source:sub(2), ":h")
local listening = dofile(here .. "/listening.lua")
dofile(vim.env.CONFIGURATION)
for key, act in pairs({
  ["<F5>"] = dap.continue, ["<F6>"] = dap.reverse_continue, ["<F9>"] = dap.step_back, ["<F10>"] = dap.step_over,
  ["<F11>"] = dap.step_into,
}) do
  vim.keymap.set("n", key, act)
end

local seen = io.open(vim.env.SEEN, "w")
local stops, ended, stands_in, choice = 0, false, nil, nil
dap.listeners.after.event_stopped["person"] = function(session) stops, stands_in = stops + 1, session end
dap.listeners.before.event_terminated["person"] = function(session) ended = ended or session.parent == nil end
vim.ui.select = function(items, options, choose)
  for _, item in ipairs(items) do
    if options.format_item(item) == choice then return choose(item) end
  end
  error(choice .. " is not offered")
end

local function see(what)
  seen:write(vim.json.encode(what), "\n")
  seen:flush()
end

vim.notify = function(text, level)
  if level and level >= vim.log.levels.WARN then see({ complaint = text }) end
end

local function wait(met)
  if not vim.wait(60000, function() return met() and listening.settled() end, 5) then error("it never came") end
end

local function console()
  return vim.api.nvim_buf_get_lines(vim.fn.bufnr("dap-repl"), 0, -1, false)
end

local function values()
  local found = vim.empty_dict()
  for _, scope in ipairs(stands_in.current_frame.scopes) do
    local group = vim.empty_dict()
    for _, variable in pairs(scope.variables or {}) do group[variable.name] = variable.value end
    found[scope.name] = group
  end
  return found
end

local act = {}

function act.break_at(line, condition)
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  dap.set_breakpoint(condition)
end

function act.press(key, chosen)
  local before = stops
  choice = chosen
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(key, true, false, true), "xt", false)
  wait(function() return stops > before or ended end)
  if ended then return end
  if dap.session() ~= stands_in then dap.set_session(stands_in) end -- as in the list of the sessions
  local told = vim.tbl_map(function(found) return found.message end, vim.diagnostic.get(0))
  see({
    stands = vim.api.nvim_win_get_cursor(0)[1],
    file = vim.fn.expand("%:t"),
    values = values(),
    diagnostics = #told > 0 and told or nil,
  })
end

function act.hover(word, line)
  local stands = vim.api.nvim_win_get_cursor(0)[1]
  vim.api.nvim_win_set_cursor(0, { line, vim.fn.match(vim.fn.getline(line), "\\<" .. word .. "\\>") })
  local view = require("dap.ui.widgets").hover()
  wait(function() return true end)
  see({ told = table.concat(vim.api.nvim_buf_get_lines(view.buf, 0, -1, false), "\n") })
  view.close()
  vim.api.nvim_win_set_cursor(0, { stands, 0 })
end

function act.type(text)
  local before = #console()
  dap.repl.execute(text)
  wait(function() return true end)
  see({ told = table.concat(vim.list_slice(console(), before), "\n") })
end

function act.tick(...)
  dap.set_exception_breakpoints({ ... })
  wait(function() return true end)
end

function act.leave()
  dap.terminate()
  wait(function() return dap.session() == nil end)
end

local done, failure = pcall(function()
  vim.cmd("edit " .. vim.fn.fnameescape(vim.env.FILE))
  dap.repl.open()
  for _, action in ipairs(vim.json.decode(vim.env.ACTIONS)) do
    act[action[1]](unpack(action, 2))
  end
end)
if not done then see({ complaint = failure }) end
see({ printed = table.concat(console(), "\n") })
vim.cmd("qall!")
