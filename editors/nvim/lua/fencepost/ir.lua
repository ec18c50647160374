-- A kernel in Python beside the ops that it is analysed as; what belongs to the cursor is marked on both sides.
local client = require('fencepost.client')
local status = require('fencepost.status')

local M = {}

local marks = vim.api.nvim_create_namespace('fencepost.ir')

-- What is shown, by the number of its buffer: `source`, `kernel`, `instance`, `links`, `tick` (of the source's text).
local shown = {}

vim.api.nvim_set_hl(0, 'FencepostLinked', { link = 'Visual', default = true })

local function clear(ir)
  for _, buffer in ipairs({ ir, shown[ir] and shown[ir].source }) do
    if buffer and vim.api.nvim_buf_is_valid(buffer) then
      vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
    end
  end
end

--- Whether the ops are of the text as it is.
local function current(of)
  return of.links ~= nil and vim.api.nvim_buf_is_valid(of.source) and of.tick == vim.api.nvim_buf_get_changedtick(of.source)
end

local function mark(buffer, lines)
  local count = vim.api.nvim_buf_line_count(buffer)
  for line in pairs(lines) do
    if line < count then
      vim.api.nvim_buf_set_extmark(buffer, marks, line, 0, { line_hl_group = 'FencepostLinked' })
    end
  end
end

--- Shows a line in the windows of a buffer without going there.
local function reveal(buffer, line)
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    if line < vim.api.nvim_buf_line_count(buffer) then
      vim.api.nvim_win_set_cursor(window, { line + 1, 0 })
    end
  end
end

--- The lines that belong together: of the ops, and of the Python. `line` counts from 0.
function M.together(links, side, line)
  local ir, python, first = {}, {}, nil
  for _, link in ipairs(links) do
    local from, to = link.range.start.line, link.range['end'].line
    local here
    if side == 'ir' then
      here = link.line == line
    else
      here = from <= line and line <= to
    end
    if here then
      first = first or (side == 'ir' and from or link.line)
      ir[link.line] = true
      for at = from, to do
        python[at] = true
      end
    end
  end
  return ir, python, first
end

local function follow(ir, side)
  local of = shown[ir]
  clear(ir)
  if not of or not current(of) then
    return
  end
  local lines, python, first = M.together(of.links, side, vim.fn.line('.') - 1)
  mark(ir, lines)
  mark(of.source, python)
  if first then
    reveal(side == 'ir' and of.source or ir, first)
  end
end

local function ask(ir, done)
  local of = shown[ir]
  local server = of and vim.api.nvim_buf_is_valid(of.source) and client.of(of.source)
  if not server then
    return
  end
  of.asked = (of.asked or 0) + 1
  local asked, tick = of.asked, vim.api.nvim_buf_get_changedtick(of.source)
  local params = { textDocument = { uri = vim.uri_from_bufnr(of.source) }, kernel = of.kernel, instance = of.instance }
  client.request(server, 'fencepost/ir', params, of.source, function(answer)
    if shown[ir] ~= of or of.asked ~= asked or not vim.api.nvim_buf_is_valid(ir) then
      return
    end
    if not answer then
      clear(ir)
      of.links = nil
      client.fill(ir, { '// The kernel is gone from the file, or does not parse.' })
      return
    end
    of.links, of.tick = answer.links, tick
    local views = {}
    for _, window in ipairs(vim.fn.win_findbuf(ir)) do
      views[window] = vim.api.nvim_win_call(window, vim.fn.winsaveview)
    end
    client.fill(ir, vim.split(answer.text, '\n', { trimempty = true }))
    for window, view in pairs(views) do
      vim.api.nvim_win_call(window, function()
        vim.fn.winrestview(view)
      end)
    end
    if done then
      done()
    end
  end)
end

--- Shows the ops of a kernel, by default of that around the cursor; `number` is that of an instance, from 1.
function M.show(kernel, number)
  local source = vim.api.nvim_get_current_buf()
  if not client.of(source) then
    return
  end
  if vim.bo[source].filetype ~= 'python' then
    client.say('this is the IR itself')
    return
  end
  kernel = kernel or status.kernel_around(source, vim.fn.line('.'))
  local window = vim.api.nvim_get_current_win()
  -- The file type is not TTGIR: no server is for what no compiler made.
  local ir = client.show({ '// The kernel is being elaborated.' }, 'fencepostir', 'ops')
  vim.bo[ir].syntax = 'ttgir'
  shown[ir] = { source = source, kernel = kernel, instance = number and number - 1 or nil }
  local group = vim.api.nvim_create_augroup('fencepost.ir.' .. ir, {})
  local function on(events, buffer, run)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buffer, callback = run })
  end
  on('CursorMoved', ir, function()
    follow(ir, 'ir')
  end)
  on('CursorMoved', source, function()
    follow(ir, 'python')
  end)
  on({ 'TextChanged', 'InsertLeave' }, source, function()
    clear(ir)
    ask(ir)
  end)
  on('BufWipeout', ir, function()
    clear(ir)
    shown[ir] = nil
    vim.api.nvim_del_augroup_by_id(group)
  end)
  ask(ir, function()
    if vim.api.nvim_win_is_valid(window) and vim.api.nvim_win_get_buf(window) == source then
      vim.api.nvim_win_call(window, function()
        follow(ir, 'python')
      end)
    end
  end)
end

return M
