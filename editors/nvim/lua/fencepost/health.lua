-- :checkhealth fencepost
local M = {}

function M.check()
  local health = vim.health
  local ok = health.ok or health.report_ok
  local warn = health.warn or health.report_warn
  local fail = health.error or health.report_error
  local start = health.start or health.report_start
  start('fencepost')

  if vim.fn.has('nvim-0.11') == 1 then
    ok('Neovim has vim.lsp.enable')
  elseif vim.fn.has('nvim-0.8') == 1 then
    ok('Neovim has vim.lsp.start; 0.11 or newer shows related places of diagnostics better')
  else
    fail('Neovim is older than 0.8 and cannot start the server')
  end

  local configured = vim.lsp.config and vim.lsp.config.fencepost and vim.lsp.config.fencepost.cmd
  local command = configured or vim.g.fencepost_cmd or { 'fencepost', 'lsp' }
  local program = type(command) == 'table' and command[1] or 'fencepost'
  if vim.fn.executable(program) == 1 then
    ok(vim.trim(vim.fn.system({ program, '--version' })) .. ' at ' .. vim.fn.exepath(program))
  else
    fail(program .. ' is not executable', { 'Put it on the PATH, or set its path as the README says' })
  end

  local get = vim.lsp.get_clients or vim.lsp.get_active_clients
  local clients = get({ name = 'fencepost' })
  if #clients > 0 then
    ok('running, columns in ' .. clients[1].offset_encoding)
  else
    warn('not running: open a .ttgir file')
  end
end

return M
