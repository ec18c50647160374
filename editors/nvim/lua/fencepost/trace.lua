-- The run that leads to a finding, step by step in the code: lanes in a window below, the cursor on the step's op.
local client = require('fencepost.client')
local steps = require('fencepost.steps')

local M = {}
local marks = vim.api.nvim_create_namespace('fencepost.trace.places')
local shown = vim.api.nvim_create_namespace('fencepost.trace.step')

vim.api.nvim_set_hl(0, 'FencepostStep', { default = true, link = 'Visual' })
vim.api.nvim_set_hl(0, 'FencepostStepText', { default = true, link = 'DiagnosticVirtualTextInfo' })

-- The run that is stepped through: `source` and `lanes` are buffers, `steps` the server's with an extmark each,
-- `rows` the line of the lanes at which each begins, `at` the number of the step that is shown, `tick` the text.
local run = nil

local function stale()
  return run and vim.api.nvim_buf_get_changedtick(run.source) ~= run.tick
end

--- The line and column (from 0) where a step is by now: edits have moved it.
local function place(step)
  return vim.api.nvim_buf_get_extmark_by_id(run.source, marks, step.mark, { details = true })
end

--- Shows a step: the cursor of the source's window goes to it, virtual lines below say what happens.
local function go(number)
  local step = run.steps[number]
  run.at = number
  vim.api.nvim_buf_clear_namespace(run.source, shown, 0, -1)
  local row, column, details = unpack(step.mark and place(step) or {})
  if row then
    local words = ('^ step %d of %d, %s: %s'):format(number, #run.steps, step.partition, step.text)
    if stale() then
      words = words .. ' (of an earlier text: :FencepostTrace)'
    end
    -- Below the line, since lines of TTGIR are longer than windows are wide.
    local window = vim.fn.bufwinid(run.source)
    local width = math.max(30, (window == -1 and vim.o.columns or vim.api.nvim_win_get_width(window)) - 10)
    local below = vim.tbl_map(function(line)
      return { { '    ' .. line, 'FencepostStepText' } }
    end, vim.list_extend(steps.wrapped(words, width), steps.state_of(step)))
    vim.api.nvim_buf_set_extmark(run.source, shown, row, column, {
      end_row = details.end_row,
      end_col = details.end_col,
      hl_group = 'FencepostStep',
      virt_lines = below,
      strict = false,
    })
    if window ~= -1 then
      vim.api.nvim_win_set_cursor(window, { row + 1, column })
      vim.api.nvim_win_call(window, function()
        vim.cmd('normal! zv')
      end)
      vim.fn.setloclist(window, {}, 'a', { idx = number })
    end
  end
  if vim.api.nvim_buf_is_valid(run.lanes) then
    vim.api.nvim_buf_clear_namespace(run.lanes, shown, 0, -1)
    local line = run.rows[number]
    if line then
      local last = math.min((run.rows[number + 1] or run.last + 1) - 1, line + 5)
      vim.api.nvim_buf_set_extmark(run.lanes, shown, line - 1, 0, {
        end_row = last,
        hl_group = 'FencepostStep',
        hl_eol = true,
        strict = false,
      })
      local window = vim.fn.bufwinid(run.lanes)
      if window ~= -1 then
        vim.api.nvim_win_set_cursor(window, { line, 0 })
      end
    end
  end
end

--- Goes some steps on, or back.
function M.step(by)
  if not run or not vim.api.nvim_buf_is_valid(run.source) then
    client.say('no run is shown; :FencepostTrace shows that of the finding at the cursor')
    return
  end
  if #run.steps == 0 then
    client.say('this run has no steps to go through')
    return
  end
  local number = run.at + by
  if number < 1 or number > #run.steps then
    client.say(number < 1 and 'this is the first step' or 'this is the last step')
  end
  go(math.max(1, math.min(number, #run.steps)))
end

--- The step that is shown, its number, and how many there are; nothing where no run is.
function M.current()
  if run then
    return run.steps[run.at], run.at, #run.steps
  end
end

--- Ends stepping.
function M.stop()
  if run then
    local ended = run
    run = nil
    for _, space in ipairs({ marks, shown }) do
      if vim.api.nvim_buf_is_valid(ended.source) then
        vim.api.nvim_buf_clear_namespace(ended.source, space, 0, -1)
      end
    end
  end
end

local function keys(lanes)
  local function key(left, right, what)
    vim.keymap.set('n', left, right, { buffer = lanes, nowait = true, desc = what })
  end
  key('<Tab>', function()
    M.step(vim.v.count1)
  end, 'Next step')
  key('<S-Tab>', function()
    M.step(-vim.v.count1)
  end, 'Previous step')
  key('<CR>', function()
    local line, number = vim.fn.line('.'), nil
    for at = 1, run and #run.steps or 0 do
      number = run.rows[at] and run.rows[at] <= line and at or number
    end
    if number then
      go(number)
      client.enter(run.source)
    end
  end, 'Go to the step of this line')
end

--- Shows a run and its steps; `answer` is the server's, to `fencepost/run` or `fencepost/timeline`.
local function open(source, window, answer, encoding)
  M.stop()
  local items = steps.mark(source, marks, answer.steps, encoding)
  local title = answer.kind or answer.title
  vim.fn.setloclist(window, {}, ' ', { title = title .. ': ' .. answer.message, items = items })
  local lines, head = {}, 0
  if answer.kind then
    lines = vim.list_extend({ answer.kind }, steps.wrapped(answer.message, vim.o.columns - 4))
    table.insert(lines, '')
    head = #lines
  end
  vim.list_extend(lines, vim.split(answer.text, '\n', { trimempty = true }))
  local lanes = client.show(lines, 'fencepostrun', 'run')
  -- What has been typed since the server was asked makes the run one of an earlier text.
  local known = (vim.lsp.util.buf_versions or {})[source]
  local current = not (answer.version and known) or answer.version == known
  run = {
    source = source,
    lanes = lanes,
    steps = answer.steps,
    rows = steps.rows(answer, lines, head),
    last = #lines,
    at = 1,
    tick = current and vim.api.nvim_buf_get_changedtick(source) or -1,
  }
  keys(lanes)
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = lanes,
    callback = function()
      if run and run.lanes == lanes then
        M.stop()
      end
    end,
  })
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
    buffer = source,
    callback = function()
      -- The drawing is of an earlier text now, and says so; once is enough.
      if not run or run.source ~= source or run.lanes ~= lanes then
        return true
      elseif stale() and vim.api.nvim_buf_is_valid(lanes) then
        client.fill(lanes, vim.list_extend({ lines[1] .. ' (of an earlier text: :FencepostTrace)' }, lines, 2))
        go(run.at)
        return true
      end
    end,
  })
  vim.api.nvim_win_set_height(0, math.min(#lines + 1, math.max(8, math.floor(vim.o.lines / 3))))
  vim.api.nvim_set_current_win(window)
  if #answer.steps > 0 then
    go(1)
  end
end

--- Shows the run of the finding at the cursor, or of the nearest in its kernel, by wish only of one kind; of a kernel
--- without findings a run in which nothing is wrong.
function M.show(kind)
  local window, source = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  local of = client.of(source)
  if not of then
    return
  end
  local params = client.position(window, of)
  params.width, params.nearest, params.kind = vim.o.columns, true, kind
  local function gone()
    return not (vim.api.nvim_win_is_valid(window) and vim.api.nvim_win_get_buf(window) == source)
  end
  client.request(of, 'fencepost/run', params, source, function(answer)
    if gone() then
      return
    elseif not answer and kind then
      client.say(('no finding of kind %s in this kernel'):format(kind))
      return
    elseif answer then
      open(source, window, answer, of.offset_encoding)
      return
    end
    local here = { uri = params.textDocument.uri, position = params.position, width = vim.o.columns }
    client.request(of, 'fencepost/timeline', here, source, function(drawing)
      if gone() then
        return
      elseif drawing and drawing.steps and #drawing.steps > 0 then
        open(source, window, drawing, of.offset_encoding)
      elseif drawing then
        M.stop()
        client.show(vim.split(drawing.text, '\n', { trimempty = true }), 'fencepostrun', 'run')
      else
        client.say('no kernel here')
      end
    end)
  end)
end

return M
