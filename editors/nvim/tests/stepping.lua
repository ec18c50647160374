-- The run of a finding: steps in order, the cursor on each, virtual lines below it, and what an edit does to it.
return function(test)
  local source = test.open('stepping.ttgir')
  local window = vim.api.nvim_get_current_win()
  local finding = test.findings()[1]
  local trace = require('fencepost.trace')

  -- Three lines beside the finding, at the start of the line: the nearest one counts.
  vim.api.nvim_win_set_cursor(window, { finding.lnum + 4, 0 })
  vim.cmd.FencepostTrace()
  test.wait('the run', function()
    return trace.current() ~= nil
  end)
  test.equal(vim.api.nvim_get_current_win(), window, 'the cursor stays in the code')
  local _, at, count = trace.current()
  test.check(at == 1 and count > 1, 'the first step of several is shown')

  -- The steps are the server's, in their order, in the location list too.
  local items = vim.fn.getloclist(window, { items = 0, title = 0 })
  test.equal(#items.items, count, 'steps in the location list')
  for number, item in ipairs(items.items) do
    test.check(vim.startswith(item.text, ('step %d, '):format(number)), item.text)
  end
  test.check(vim.startswith(items.title, finding.code), 'the list is called after the kind')

  -- Forwards, backwards, several at once, and no further than the ends.
  local space = vim.api.nvim_get_namespaces()['fencepost.trace.step']
  local function shown()
    local marks = vim.api.nvim_buf_get_extmarks(source, space, 0, -1, { details = true })
    test.equal(#marks, 1, 'one step is shown')
    local words = vim.iter(marks[1][4].virt_lines):map(function(line)
      return vim.trim(line[1][1])
    end):join(' ')
    test.equal(vim.api.nvim_win_get_cursor(window)[1], marks[1][2] + 1, 'the cursor is on the step')
    return words, marks[1][2] + 1
  end
  for number = 1, count do
    local step = trace.current()
    local words, line = shown()
    test.check(words:find(('step %d of %d, %s: '):format(number, count, step.partition), 1, true), words)
    test.equal(line, items.items[number].lnum, 'the line of the step')
    if number < count then
      vim.cmd.FencepostNext()
    end
  end
  vim.cmd.FencepostNext()
  test.check(test.heard('this is the last step'), 'the end is said')
  test.equal(select(2, trace.current()), count, 'there is no step behind the last')
  vim.cmd('FencepostPrev ' .. count - 1)
  test.equal(select(2, trace.current()), 1, 'several steps back')

  -- The lanes: one column a partition, keys of their own.
  local lanes
  for _, it in ipairs(vim.api.nvim_list_wins()) do
    if vim.bo[vim.api.nvim_win_get_buf(it)].filetype == 'fencepostrun' then
      lanes = it
    end
  end
  local drawing = vim.api.nvim_win_get_buf(lanes)
  test.check(test.text(drawing):find('step%s+line | default%s+| partition0'), 'a lane for each partition')
  vim.api.nvim_set_current_win(lanes)
  test.press('<Tab>')
  test.equal(select(2, trace.current()), 2, 'the key of the lanes')
  test.check(vim.api.nvim_get_current_line():match('^%s*2%s'), 'the lanes go along')
  test.press('G<CR>')
  test.equal({ vim.api.nvim_get_current_win(), (select(2, trace.current())) }, { window, count }, 'a line of the lanes')
  test.press('<Plug>(fencepost-prev)')
  test.equal(select(2, trace.current()), count - 1, 'the mapping')

  -- An edit: the step moves with its line, and nothing of it is shown as current.
  local _, line = shown()
  vim.api.nvim_buf_set_lines(source, 0, 0, false, { '// one line more' })
  vim.api.nvim_exec_autocmds('TextChanged', { buffer = source })
  local words, moved = shown()
  test.equal(moved, line + 1, 'the step has moved')
  test.check(words:find('of an earlier text', 1, true), 'the step is said to be old')
  test.check(test.text(drawing):find('of an earlier text', 1, true), 'the drawing is said to be old')
  vim.api.nvim_win_close(lanes, true)
  test.equal(trace.current(), nil, 'closing the lanes ends it')
  test.equal(#vim.api.nvim_buf_get_extmarks(source, space, 0, -1, {}), 0, 'no mark is left')

  -- Of several findings at one place the kind says which.
  vim.api.nvim_win_set_cursor(window, { finding.lnum + 1, finding.col })
  test.equal(vim.fn.getcompletion('FencepostTrace u', 'cmdline'), { 'uninitialised-read' }, 'completion of kinds here')
  vim.cmd('FencepostTrace uninitialised-read')
  test.wait('the run of that kind', function()
    return trace.current() ~= nil
  end)
  local title = vim.fn.getloclist(window, { title = 0 }).title
  test.check(vim.startswith(title, 'uninitialised-read'), title)
  vim.cmd.only()
  vim.cmd('FencepostTrace deadlock')
  test.wait('the answer', function()
    return test.heard('no finding of kind deadlock')
  end)

  -- A kernel without findings has a run, too, in which nothing is wrong.
  local clean = test.open('clean.ttgir', nil, test.clean)
  vim.cmd.FencepostTrace()
  local function drawn()
    for _, it in ipairs(vim.api.nvim_list_wins()) do
      local shows = vim.api.nvim_win_get_buf(it)
      if vim.bo[shows].filetype == 'fencepostrun' then
        return shows
      end
    end
  end
  test.wait('the drawing', drawn)
  test.check(test.text(drawn()):find('@ws_gemm', 1, true), 'a run without a finding')
  test.equal({ vim.api.nvim_get_current_buf(), (select(2, trace.current())) }, { clean, 1 }, 'it is gone through, too')
  vim.cmd.FencepostNext()
  local step, number = trace.current()
  test.equal(number, 2, 'its second step')
  test.check(#step.barriers > 0 and step.barriers[1].words ~= nil, 'what barriers count after it')
  vim.api.nvim_buf_delete(drawn(), { force = true })
  test.equal(trace.current(), nil, 'closing the drawing ends it')
  vim.cmd('bwipeout!')

  -- What barriers count is shown where the server sends it.
  local steps = require('fencepost.steps')
  local barriers = {
    { name = 'a[0]', concerned = true, changed = false, words = 'phase 0' },
    { name = 'b[0]', concerned = false, changed = true, words = 'phase 1, 1 of 2 arrivals to come' },
    { name = 'c[0]', concerned = false, changed = false, words = 'phase 0' },
  }
  local state = { '    a[0]: phase 0', '  * b[0]: phase 1, 1 of 2 arrivals to come' }
  test.equal(steps.state_of({ barriers = barriers }), state, 'the state of a step')
  test.equal(steps.state_of({}), {}, 'a step without state')
  vim.cmd('bwipeout!')
end
