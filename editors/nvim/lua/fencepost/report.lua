-- The barrier report in a window that follows the kernel's edits.
local client = require('fencepost.client')
local status = require('fencepost.status')

local M = {}

-- Reports that are shown, by the number of their buffer: `source`, `uri`, `kernel`, `section`.
local reports = {}

--- Asks for a report and hands over its lines, unless a later question was asked meanwhile.
local function ask(report, done)
  local of = reports[report]
  local server = of and vim.api.nvim_buf_is_valid(of.source) and client.of(of.source)
  if not server then
    return
  end
  of.asked = (of.asked or 0) + 1
  local asked = of.asked
  local params = { uri = of.uri, kernel = of.kernel, section = of.section, width = 100 }
  client.request(server, 'fencepost/reportText', params, of.source, function(answer)
    if answer and reports[report] == of and of.asked == asked and vim.api.nvim_buf_is_valid(report) then
      done(vim.split(answer.text, '\n', { trimempty = true }))
    end
  end)
end

--- The line of the kernel that a line of the report names under or before a column.
function M.line_named(line, column)
  local target, at = nil, 1
  while true do
    local from, to, word, number = line:find('(lines?) (%d+)', at)
    if not from or (target and from > column) then
      break
    end
    target, at = number, to + 1
    -- Lines that stand in a row: `lines 12, 14`.
    while word == 'lines' do
      local next_from, next_to, next_number = line:find('^, (%d+)', at)
      if not next_from or next_from >= column then
        break
      end
      target, at = next_number, next_to + 1
    end
  end
  return tonumber(target or line:match('^%s+(%d+)%s'))
end

local function jump(report)
  local target = M.line_named(vim.api.nvim_get_current_line(), vim.fn.col('.'))
  local of = reports[report]
  if not target or not of or not vim.api.nvim_buf_is_valid(of.source) then
    client.say('no line is named here')
    return
  end
  client.enter(of.source)
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { math.min(target, vim.api.nvim_buf_line_count(0)), 0 })
end

--- Shows the report of a kernel, by default of that around the cursor.
function M.show(kernel, section)
  local source = vim.api.nvim_get_current_buf()
  if not client.of(source) then
    return
  end
  kernel = kernel or status.kernel_around(source, vim.fn.line('.'))
  local report = client.show({ 'The barrier report is being made.' }, 'fencepostreport', 'report')
  reports[report] = { source = source, uri = vim.uri_from_bufnr(source), kernel = kernel, section = section }
  vim.keymap.set('n', '<CR>', function()
    jump(report)
  end, { buffer = report, desc = 'Go to the line that is named here' })
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = report,
    callback = function()
      reports[report] = nil
    end,
  })
  ask(report, function(lines)
    client.fill(report, lines)
  end)
end

--- `fencepost/reportChanged`: every report of the document is asked for anew, and keeps its place.
function M.on_changed(params)
  for report, of in pairs(reports) do
    if of.uri == params.uri then
      ask(report, function(lines)
        local views = {}
        for _, window in ipairs(vim.fn.win_findbuf(report)) do
          views[window] = vim.api.nvim_win_call(window, vim.fn.winsaveview)
        end
        client.fill(report, lines)
        for window, view in pairs(views) do
          vim.api.nvim_win_call(window, function()
            vim.fn.winrestview(view)
          end)
        end
      end)
    end
  end
end

return M
