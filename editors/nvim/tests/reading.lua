-- Squiggle, hover, a fix that is applied, status, the page of a kind.
return function(test)
  local buffer = test.open('reading.ttgir')
  local finding = test.findings()[1]
  test.equal(finding.source, 'fencepost', 'the source of the finding')
  test.check(finding.end_col > finding.col, 'the finding is a range')
  vim.api.nvim_win_set_cursor(0, { finding.lnum + 1, finding.col })

  -- What the server says on hover, shown as Neovim shows it.
  vim.lsp.buf.hover()
  local function float()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then
        return window
      end
    end
  end
  test.wait('the hover', float)
  local hover = test.text(vim.api.nvim_win_get_buf(float()))
  test.check(hover:find('warp_group_dot', 1, true) or hover:find('%a', 1, true), 'the hover is about the op: ' .. hover)
  vim.api.nvim_win_close(float(), true)

  -- What a status line shows.
  local fencepost = require('fencepost')
  test.wait('the status', function()
    return fencepost.status() == '1 finding, 2 hints'
  end)
  local _, status = fencepost.status()
  test.equal({ #status.kernels, status.kernels[1].state }, { 1, 'found' }, 'the kernel in the status')
  test.equal(fencepost.status(vim.api.nvim_create_buf(false, true)), '', 'the status of another buffer')
  vim.cmd.FencepostStatus()
  test.check(test.heard('ws_gemm, line %d+: found, findings: %d, hints: %d'), 'the verdicts are said')

  -- From the end of its line the finding is found, too.
  test.press('$')
  vim.cmd.FencepostExplain()
  test.wait('the page', function()
    return vim.bo.filetype == 'markdown'
  end)
  test.equal(vim.api.nvim_buf_get_lines(0, 0, 1, false)[1], '# ' .. finding.code, 'the page')
  test.press('q')
  test.equal(vim.api.nvim_get_current_buf(), buffer, 'q closes the page')
  local kinds = vim.fn.getcompletion('FencepostExplain dead', 'cmdline')
  test.equal(kinds, { 'deadlock' }, 'completion of kinds')

  -- The fix is applied, and the finding is gone.
  vim.api.nvim_win_set_cursor(0, { finding.lnum + 1, finding.col })
  local before = test.text(buffer)
  vim.ui.select = function(items, _, choose)
    choose(items[1])
  end
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action)
      return action.kind == 'quickfix' and action.isPreferred
    end,
  })
  test.wait('the fix', function()
    return test.text(buffer) ~= before
  end)
  test.check(test.text(buffer):find('wait_barrier', 1, true), 'a wait is there')
  test.wait('the end of the finding', function()
    return not vim.tbl_contains(
      vim.tbl_map(function(it)
        return it.code
      end, test.findings()),
      finding.code
    )
  end)
  vim.cmd('bwipeout!')
end
