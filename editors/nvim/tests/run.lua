-- Smoke test without any test framework:
--   nvim --clean -l editors/nvim/tests/run.lua SERVER KERNEL
-- SERVER is the fencepost program, KERNEL a .ttgir file with at least one finding.
local server, kernel = arg[1], arg[2]
local plugin = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h')
vim.opt.runtimepath:prepend(plugin)

local function check(condition, what)
  if not condition then
    io.stderr:write('FAIL: ' .. what .. '\n')
    os.exit(1)
  end
end

local function wait(what, condition)
  check(vim.wait(10000, condition, 10), 'waited for ' .. what)
end

vim.g.fencepost_cmd = { server, 'lsp' }
if vim.lsp.config then
  vim.lsp.config('fencepost', { cmd = { server, 'lsp' } })
end
vim.cmd('filetype plugin on')
vim.cmd.source(plugin .. '/ftdetect/ttgir.lua')
vim.cmd.source(plugin .. '/plugin/fencepost.lua')
vim.cmd.edit(kernel)
check(vim.bo.filetype == 'ttgir', 'the file type is ' .. vim.bo.filetype)
local get = vim.lsp.get_clients or vim.lsp.get_active_clients
wait('the server', function()
  local client = get({ bufnr = 0, name = 'fencepost' })[1]
  return client and client.initialized
end)
local function findings()
  return vim.tbl_filter(function(it)
    return it.severity == vim.diagnostic.severity.ERROR
  end, vim.diagnostic.get(0))
end
wait('a finding', function()
  return #findings() > 0
end)

-- What a status line shows.
local fencepost = require('fencepost')
wait('the status', function()
  local said = fencepost.status()
  return said:match('^%d+ findings?$') ~= nil
end)
local _, status = fencepost.status()
check(#status.kernels == 1 and status.kernels[1].state == 'found', 'the status names the kernel')
check(fencepost.status(vim.api.nvim_create_buf(false, true)) == '', 'another buffer has none')

local finding = findings()[1]
vim.api.nvim_win_set_cursor(0, { finding.lnum + 1, finding.col })
vim.cmd.FencepostRun()
wait('the run', function()
  return vim.bo.filetype == 'fencepostrun'
end)
check(vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == finding.code, 'the run names its kind')
vim.cmd.close()
check(#vim.fn.getloclist(0) > 0, 'the steps are in the location list')
vim.cmd.FencepostExplain()
wait('the page', function()
  return vim.bo.filetype == 'markdown'
end)
vim.cmd.close()

-- The report follows the edits of the kernel.
local source = vim.api.nvim_get_current_buf()
vim.cmd.FencepostReport()
local report = vim.api.nvim_get_current_buf()
check(report ~= source and vim.bo.filetype == 'fencepostreport', 'the report has a window')
local function says(text)
  return table.concat(vim.api.nvim_buf_get_lines(report, 0, -1, false), '\n'):find(text, 1, true) ~= nil
end
wait('the report', function()
  return says('Barrier report of @')
end)
check(says('4. Shared data') and not vim.bo[report].modifiable, 'the report is whole')
local line = vim.api.nvim_buf_get_lines(report, 1, 2, false)[1]:match(':(%d+)$')
check(line ~= nil, 'the report names its line')
vim.fn.search('line \\d', 'w')
local named = vim.api.nvim_get_current_line():sub(vim.fn.col('.')):match('line (%d+)')
vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes('<CR>', true, false, true), 'x', false)
check(vim.api.nvim_get_current_buf() == source, 'the line is in the kernel')
check(tostring(vim.fn.line('.')) == named, 'the cursor is on line ' .. named)
vim.api.nvim_buf_set_lines(source, 0, 0, false, { '// one line more' })
wait('the new report', function()
  return says(':' .. (tonumber(line) + 1))
end)
vim.api.nvim_buf_delete(report, { force = true })
print('PASS ' .. finding.code)
vim.cmd('qall!')
