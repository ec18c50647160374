-- Starts the server on TTGIR buffers and Python with Gluon kernels, and defines the commands.
if vim.g.loaded_fencepost then
  return
end
vim.g.loaded_fencepost = true

local fencepost = require('fencepost')

if vim.lsp.config and vim.lsp.enable then
  vim.lsp.enable('fencepost')
elseif vim.lsp.start then
  -- Neovim 0.8 to 0.10 know no lsp/ folder.
  vim.api.nvim_create_autocmd('FileType', {
    pattern = { 'ttgir', 'python' },
    group = vim.api.nvim_create_augroup('fencepost', {}),
    callback = function(event)
      fencepost.start(event.buf)
    end,
  })
end

vim.api.nvim_create_user_command('FencepostRun', function()
  fencepost.show_run()
end, { desc = 'Show the run that leads to the finding under the cursor' })

vim.api.nvim_create_user_command('FencepostLaunch', function(command)
  fencepost.launch(command.fargs[1], command.fargs[2])
end, {
  nargs = '*',
  complete = function()
    return { 'cpu', 'gpu', 'gsan' }
  end,
  desc = 'Run the kernels of the buffer under instrumentation',
})

vim.lsp.handlers['fencepost/reportChanged'] = function(_, params)
  fencepost.on_report_changed(nil, params)
end

vim.lsp.handlers['fencepost/status'] = function(_, params)
  fencepost.on_status(nil, params)
end

vim.api.nvim_create_user_command('FencepostReplay', function(command)
  fencepost.replay(command.args)
end, { nargs = 1, complete = 'file', desc = 'Mark what a saved log of a run says' })

vim.api.nvim_create_user_command('FencepostReport', function(command)
  local kernel, section = command.fargs[1], tonumber(command.fargs[2] or '')
  fencepost.show_report(kernel, section)
end, { nargs = '*', desc = 'Show the barrier report of the kernel, in step with its edits' })

vim.api.nvim_create_user_command('FencepostExplain', function(command)
  fencepost.explain(command.args ~= '' and command.args or nil)
end, { nargs = '?', desc = 'Explain a kind of finding, by default that under the cursor' })
