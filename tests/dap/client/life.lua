-- nvim-dap drives a session: a line in forward and in backward, hover, steps in both directions of time, the console.
-- What it sees is written to $SEEN, one thing a line.
vim.opt.rtp:append(vim.env.NVIM_DAP)
vim.opt.swapfile = false
local dap = require("dap")
dap.adapters.graphscope = { type = "executable", command = vim.env.PYTHON, args = { vim.env.ADAPTER, "dap" } }

local seen = io.open(vim.env.SEEN, "w")
local looked, over = 0, false
dap.listeners.after.scopes["life"] = function() looked = looked + 1 end -- the last thing that it asks for at a stop
dap.listeners.before.event_terminated["life"] = function() over = true end

local function say(...)
  seen:write(table.concat({ ... }, " "), "\n")
  seen:flush()
end

local function move(press)
  local before = looked
  press()
  vim.wait(60000, function() return looked > before or over end, 20)
  local frame = dap.session().current_frame
  say("at", tostring(frame.line), "cursor", tostring(vim.api.nvim_win_get_cursor(0)[1]), frame.name)
  return frame
end

local function hover(word)
  local told
  local asked = { expression = word, context = "hover", frameId = dap.session().current_frame.id }
  dap.session():request("evaluate", asked, function(failed, answer)
    told = failed and "unknown" or answer.result
  end)
  vim.wait(60000, function() return told ~= nil end, 20)
  say("hover", word, told)
end

vim.cmd("edit " .. vim.fn.fnameescape(vim.env.PROGRAM))
vim.api.nvim_win_set_cursor(0, { tonumber(vim.env.LINE), 0 })
dap.toggle_breakpoint()
move(function() dap.run({ type = "graphscope", request = "launch", name = "life", program = vim.env.PROGRAM }) end)
hover("depth")
move(dap.step_over)
move(dap.continue)
move(dap.continue)
hover("h")
hover("depth")
move(dap.continue)
hover("h")
move(dap.step_back)
move(dap.reverse_continue)
dap.repl.open()
dap.repl.execute("granularity")
local function lines_of_console()
  return vim.api.nvim_buf_get_lines(vim.fn.bufnr("dap-repl"), 0, -1, false)
end
vim.wait(60000, function() return vim.tbl_contains(lines_of_console(), "A step is a line") end, 20)
say("console", table.concat(lines_of_console(), "|"))
dap.terminate()
vim.wait(60000, function() return dap.session() == nil end, 20)
say("over", tostring(dap.session() == nil))
vim.cmd("qall!")
