-- Opens a file of a module in Neovim with the server, applies the preferred action at its first
-- diagnostic, and saves. Run by editors_test.go, as
--   INTERLOCK=<program> nvim --headless --clean -c 'luafile nvim.lua' <file>
-- It ends in 0, or in 1 with what went wrong.

local function fail(text)
  io.stderr:write(text .. "\n")
  vim.cmd("cquit 1")
end

-- Waits until what ok returns is true.
local function wait(what, ok)
  if not vim.wait(60000, ok, 20) then
    fail("waited too long for " .. what .. "\n" .. vim.inspect(vim.diagnostic.get(0)))
  end
end

local function main()
  local id = vim.lsp.start_client({
    name = "interlock",
    cmd = { vim.env.INTERLOCK, "lsp" },
    root_dir = vim.fn.getcwd(),
  })
  vim.lsp.buf_attach_client(0, id)
  wait("a diagnostic", function() return #vim.diagnostic.get(0) > 0 end)

  -- The diagnostic, with its other places.
  local d = vim.diagnostic.get(0)[1]
  local lsp = d.user_data.lsp
  local marked = vim.api.nvim_buf_get_text(0, d.lnum, d.col, d.end_lnum, d.end_col, {})[1]
  local related = lsp.relatedInformation or {}
  print(string.format("%s %s %s, %d related, severity %d", d.source, lsp.code, marked, #related, d.severity))
  print(string.format("at %d:%d: %s: %s", d.lnum + 1, d.col + 1, lsp.code, d.message))
  for _, r in ipairs(related) do
    print("  " .. r.message)
  end
  if d.source ~= "interlock" or #related == 0 or not lsp.codeDescription.href:find("#" .. lsp.code:lower(), 1, true) then
    fail(vim.inspect(d))
  end

  -- What guards the field is said on hover.
  vim.api.nvim_win_set_cursor(0, { d.lnum + 1, d.end_col - 1 })
  local answer = vim.lsp.buf_request_sync(0, "textDocument/hover", vim.lsp.util.make_position_params(), 10000)
  print(answer[id].result.contents.value)

  -- The preferred action, by the editor's own code.
  local preferred = 0
  vim.ui.select = function(items, _, choose)
    for _, item in ipairs(items) do
      local action = item[2]
      if action.isPreferred then
        preferred = preferred + 1
        print(action.title)
        choose(item)
      end
    end
  end
  local before = vim.api.nvim_buf_get_changedtick(0)
  vim.lsp.buf.code_action()
  wait("the patch", function() return vim.api.nvim_buf_get_changedtick(0) ~= before end)
  if preferred ~= 1 then
    fail(preferred .. " preferred actions")
  end
  vim.cmd("write")
  wait("no diagnostic", function() return #vim.diagnostic.get(0) == 0 end)

  vim.lsp.stop_client(id)
  wait("the end of the server", function() return vim.lsp.client_is_stopped(id) end)
  vim.cmd("qall!")
end

local ok, err = pcall(main)
if not ok then
  fail(err)
end
