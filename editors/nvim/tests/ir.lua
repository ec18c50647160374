-- A kernel in Python stands beside the ops that it is analysed as, and the cursor is marked on both sides.
return function(test)
  local gluon = vim.fs.dirname(test.clean) .. '/gluon'
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder .. '/.git', 'p')
  for _, name in ipairs({ 'ring_tools.py', 'sum_rows.py' }) do
    vim.fn.writefile(vim.fn.readfile(gluon .. '/' .. name), folder .. '/' .. name)
  end
  vim.cmd.edit(folder .. '/sum_rows.py')
  test.wait('the server', test.client)
  test.wait('the verdict', function()
    return require('fencepost').status() == '1 proved'
  end)
  local source = vim.api.nvim_get_current_buf()
  local window = vim.api.nvim_get_current_win()
  vim.fn.search('tma.async_load', 'w')
  local line = vim.fn.line('.') - 1
  vim.cmd.FencepostIr()
  local ir = vim.api.nvim_get_current_buf()
  test.check(ir ~= source and vim.bo.filetype == 'fencepostir', 'the ops have a window')
  local space = vim.api.nvim_get_namespaces()['fencepost.ir']
  local function marked(buffer)
    local lines = {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, space, 0, -1, {})) do
      lines[mark[2]] = vim.api.nvim_buf_get_lines(buffer, mark[2], mark[2] + 1, false)[1]
    end
    return lines
  end
  local function some(lines, text)
    for _, one in pairs(lines) do
      if one:find(text, 1, true) then
        return true
      end
    end
    return false
  end
  test.wait('the ops of the line', function()
    return some(marked(ir), 'async_tma_copy_global_to_local')
  end)
  test.check(test.text(ir):find("no compiler's output", 1, true) and not vim.bo[ir].modifiable, 'what it is')
  test.check(marked(source)[line] ~= nil, 'the line of the cursor')

  -- From the ops to the line.
  vim.fn.search('ttng.arrive_barrier', 'w')
  vim.cmd.doautocmd('CursorMoved')
  test.wait('the line of the op', function()
    return some(marked(source), 'signal(free, slot)')
  end)
  -- The window of the Python shows it, and the cursor stays here.
  test.equal(vim.api.nvim_get_current_buf(), ir, 'the buffer of the cursor')

  -- After an edit nothing old is marked, and the ops are those of the new text.
  vim.api.nvim_buf_set_lines(source, 0, 0, false, { '# one line more' })
  vim.api.nvim_win_call(window, function()
    vim.cmd.doautocmd('TextChanged')
    vim.fn.search('tma.async_load', 'w')
  end)
  test.wait('marks of the new text', function()
    vim.api.nvim_win_call(window, function()
      vim.cmd.doautocmd('CursorMoved')
    end)
    return marked(source)[line + 1] ~= nil
  end)
  vim.api.nvim_buf_delete(ir, { force = true })
  test.equal(marked(source), {}, 'marks behind a window that is closed')
  vim.cmd('bwipeout!')
end
