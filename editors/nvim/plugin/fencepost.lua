-- Starts the server on TTGIR buffers and on Python, and defines the commands. Nothing else is loaded here.
if vim.g.loaded_fencepost then
  return
end
vim.g.loaded_fencepost = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.cmd([[
    augroup fencepost
      autocmd FileType ttgir ++once echomsg 'Fencepost needs Neovim 0.10 or newer; see :checkhealth fencepost'
    augroup END
  ]])
  return
end

local group = vim.api.nvim_create_augroup('fencepost', {})

if vim.lsp.config and vim.lsp.enable then
  vim.lsp.enable('fencepost')
  vim.api.nvim_create_autocmd('FileType', {
    pattern = 'ttgir',
    group = group,
    callback = function()
      require('fencepost.client').look()
    end,
  })
else
  -- Neovim 0.10 knows no lsp/ folder.
  vim.api.nvim_create_autocmd('FileType', {
    pattern = { 'ttgir', 'python' },
    group = group,
    callback = function(event)
      require('fencepost').start(event.buf)
    end,
  })
  -- What a plugin manager loads late finds the buffer open.
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.tbl_contains({ 'ttgir', 'python' }, vim.bo[buffer].filetype) then
      require('fencepost').start(buffer)
    end
  end
end

vim.lsp.handlers['fencepost/reportChanged'] = function(_, params)
  require('fencepost.report').on_changed(params)
end

vim.lsp.handlers['fencepost/status'] = function(_, params)
  require('fencepost.status').on_status(params)
end

vim.api.nvim_create_autocmd('LspProgress', {
  group = group,
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'fencepost' then
      require('fencepost.status').on_progress(client.id, event.data.params)
    end
  end,
})

local function command(name, what, run, options)
  vim.api.nvim_create_user_command(name, run, vim.tbl_extend('force', { desc = what }, options or {}))
end

local function complete(lead, line)
  return require('fencepost').complete(lead, line)
end

command('FencepostTrace', 'Show the run of the finding at or near the cursor, step by step', function(given)
  require('fencepost').trace(given.fargs[1])
end, { nargs = '?', complete = complete })

command('FencepostNext', 'Go to the next step of the run', function(given)
  require('fencepost').step(math.max(given.count, 1))
end, { count = 1 })

command('FencepostPrev', 'Go to the previous step of the run', function(given)
  require('fencepost').step(-math.max(given.count, 1))
end, { count = 1 })

command('FencepostRun', 'Run the kernel around the cursor under instrumentation', function(given)
  require('fencepost').run(given.fargs[1], given.fargs[2])
end, { nargs = '*', complete = complete })

command('FencepostStop', 'End the run or the analysis that goes on', function()
  require('fencepost').stop()
end)

command('FencepostReplay', 'Mark what a saved log of a run says', function(given)
  require('fencepost').replay(given.args)
end, { nargs = 1, complete = 'file' })

command('FencepostReport', 'Show the barrier report of the kernel, in step with its edits', function(given)
  require('fencepost').report(given.fargs[1], tonumber(given.fargs[2] or ''))
end, { nargs = '*', complete = complete })

command('FencepostIr', 'Show the ops that the kernel in Python is analysed as, beside it', function(given)
  require('fencepost').ir(given.fargs[1], tonumber(given.fargs[2] or ''))
end, { nargs = '*', complete = complete })

command('FencepostExplain', 'Explain a kind of finding, by default that on this line', function(given)
  require('fencepost').explain(given.args ~= '' and given.args or nil)
end, { nargs = '?', complete = complete })

command('FencepostStatus', 'Say what the analysis came to, kernel by kernel', function()
  require('fencepost').verdicts()
end)

command('FencepostRestart', 'Start the server anew', function()
  require('fencepost').restart()
end)

command('FencepostLog', 'Open the log of language servers', function()
  require('fencepost').log()
end)

vim.keymap.set('n', '<Plug>(fencepost-trace)', '<Cmd>FencepostTrace<CR>', { desc = 'Show the run of the finding' })
vim.keymap.set('n', '<Plug>(fencepost-next)', function()
  require('fencepost').step(vim.v.count1)
end, { desc = 'Next step of the run' })
vim.keymap.set('n', '<Plug>(fencepost-prev)', function()
  require('fencepost').step(-vim.v.count1)
end, { desc = 'Previous step of the run' })
