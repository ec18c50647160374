-- :checkhealth fencepost, which has to work in Neovim that the plugin does not work in, too.
local M = {}

local function server(health)
  local client = require('fencepost.client')
  local command = client.command()
  local program = type(command) == 'table' and command[1] or 'fencepost'
  if type(command) ~= 'table' then
    health.info('the server is started by a function of yours')
  elseif vim.fn.executable(program) == 1 then
    local version = vim.trim(vim.fn.system({ program, '--version' }))
    if vim.v.shell_error == 0 and version:match('^fencepost %d') then
      health.ok(version .. ' at ' .. vim.fn.exepath(program))
    else
      health.error(program .. ' does not say that it is fencepost: ' .. version:sub(1, 200))
    end
  else
    health.error(program .. ' cannot be executed', { 'Put it on the PATH, or set its path as :help fencepost-settings says' })
  end
  local clients = vim.lsp.get_clients({ name = 'fencepost' })
  if #clients == 0 then
    health.warn('not running: open a .ttgir file or a Python file with a kernel')
  end
  for _, running in ipairs(clients) do
    local buffers = vim.tbl_count(running.attached_buffers)
    health.ok(('running on %d buffer(s), columns in %s'):format(buffers, running.offset_encoding))
  end
end

local function runs(health)
  local options = require('fencepost.client').options()
  if options.trusted then
    health.ok('kernels can be run: vim.g.fencepost_trusted is set')
  else
    health.info('kernels are not run: vim.g.fencepost_trusted is not set, see :help fencepost-run')
  end
  if options.python and vim.fn.executable(options.python) == 0 then
    health.error('vim.g.fencepost_python cannot be executed: ' .. tostring(options.python))
  end
end

function M.check()
  local old = vim.health or require('health')
  local health = {}
  for _, name in ipairs({ 'start', 'ok', 'info', 'warn', 'error' }) do
    health[name] = old[name] or old['report_' .. name]
  end
  health.start('fencepost')
  if vim.fn.has('nvim-0.10') == 0 then
    health.error('Fencepost needs Neovim 0.10 or newer; this one is older and no server is started')
    return
  elseif vim.fn.has('nvim-0.11') == 1 then
    health.ok('Neovim can do all of it')
  else
    health.ok('Neovim starts the server; 0.11 or newer shows the related places of a diagnostic, too')
  end
  server(health)
  runs(health)
end

return M
