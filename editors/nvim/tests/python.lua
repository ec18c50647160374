-- A Gluon kernel in Python, with a helper in a file beside it: finding, trace and status.
return function(test)
  local gluon = vim.fs.dirname(test.clean) .. '/gluon'
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder .. '/.git', 'p')
  vim.fn.writefile(vim.fn.readfile(gluon .. '/ring_tools.py'), folder .. '/ring_tools.py')
  local kept = vim.tbl_filter(function(line)
    return not line:find('mbarrier.wait(free.index(slot)', 1, true)
  end, vim.fn.readfile(gluon .. '/sum_rows.py'))
  vim.fn.writefile(kept, folder .. '/sum_rows.py')
  vim.cmd.edit(folder .. '/sum_rows.py')
  test.equal(vim.bo.filetype, 'python', 'the file type')
  test.wait('the server', test.client)
  test.wait('a finding', function()
    return #test.findings() > 0 and require('fencepost').status():match('finding')
  end)
  local finding, trace = test.findings()[1], require('fencepost.trace')
  -- On the kernel's own name, far from the finding in a function that it calls.
  vim.fn.search('^def sum_rows', 'w')
  vim.cmd.FencepostTrace()
  test.wait('the run', function()
    return trace.current() ~= nil
  end)
  local title = vim.fn.getloclist(0, { title = 0 }).title
  test.check(vim.startswith(title, finding.code), title)
  local _, _, count = trace.current()
  for _ = 2, count do
    vim.cmd.FencepostNext()
  end
  test.equal(select(2, trace.current()), count, 'the last step')
  test.check(vim.api.nvim_get_current_line():match('%S'), 'the cursor is in the code')
  trace.stop()
  vim.cmd.only()
  vim.cmd('bwipeout!')
end
