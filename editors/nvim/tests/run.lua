-- The plugin in a Neovim without a screen, without any test framework:
--   nvim --clean -l editors/nvim/tests/run.lua SERVER KERNEL
-- SERVER is the fencepost program, KERNEL a .ttgir file of one kernel with findings, of which the first has a fix;
-- beside it lies `ring.ttgir`, the same without a slip.
local server, kernel = arg[1], arg[2]
local plugin = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h')
vim.opt.runtimepath:prepend(plugin)

local test = {}

--- What was said to the user, in order.
test.said = {}
vim.notify = function(text)
  table.insert(test.said, text)
end

function test.check(condition, what)
  if not condition then
    io.stderr:write(('FAIL: %s\n%s\nsaid: %s\n'):format(what, debug.traceback(), vim.inspect(test.said)))
    os.exit(1)
  end
end

function test.equal(one, other, what)
  test.check(vim.deep_equal(one, other), ('%s: %s, not %s'):format(what, vim.inspect(one), vim.inspect(other)))
end

function test.wait(what, condition, milliseconds)
  test.check(vim.wait(milliseconds or 20000, condition, 10), 'waited for ' .. what)
end

function test.heard(pattern)
  for _, text in ipairs(test.said) do
    if text:match(pattern) then
      return true
    end
  end
  return false
end

function test.press(keys)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), 'x', false)
end

function test.text(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer or 0, 0, -1, false), '\n')
end

--- Findings of a severity, by default errors, in the order of the text.
function test.findings(severity)
  local all = vim.diagnostic.get(0, { severity = severity or vim.diagnostic.severity.ERROR })
  table.sort(all, function(one, other)
    return one.lnum < other.lnum
  end)
  return all
end

--- The same kernel without a slip.
test.clean = vim.fs.dirname(kernel) .. '/ring.ttgir'

function test.client()
  local client = vim.lsp.get_clients({ bufnr = 0, name = 'fencepost' })[1]
  return client and client.initialized and client or nil
end

--- Opens a copy of the kernel (or of another) in a folder of its own, with lines in front, and waits for its verdict.
function test.open(name, above, other)
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder .. '/.git', 'p')
  local path = folder .. '/' .. name
  vim.fn.writefile(vim.list_extend(above or {}, vim.fn.readfile(other or kernel)), path)
  vim.cmd.edit(path)
  test.equal(vim.bo.filetype, 'ttgir', 'the file type')
  test.wait('the server', test.client)
  test.wait('the verdict', function()
    local said = require('fencepost').status()
    return said == '1 proved' or (#test.findings() > 0 and said:match('^%d+ findings?'))
  end)
  return vim.api.nvim_get_current_buf()
end

vim.g.fencepost_trusted = true
vim.g.fencepost_cmd = { server, 'lsp' }
if vim.lsp.config then
  vim.lsp.config('fencepost', { cmd = { server, 'lsp' } })
end
vim.cmd('filetype plugin on')
vim.cmd('syntax on')
vim.cmd.source(plugin .. '/ftdetect/ttgir.lua')
vim.cmd.source(plugin .. '/plugin/fencepost.lua')

for _, part in ipairs({ 'reading', 'stepping', 'python', 'reports', 'ir', 'running', 'upkeep' }) do
  dofile(('%s/tests/%s.lua'):format(plugin, part))(test)
  io.stdout:write('ok ' .. part .. '\n')
end
io.stdout:write('PASS\n')
vim.cmd('qall!')
