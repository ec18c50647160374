-- The server as the plugin sees it: what it is told, how it is asked, and where its answers are shown.
local M = {}

--- Neovim older than this is not started on; `:checkhealth fencepost` says so.
M.oldest = '0.10'

--- What the server is told: whether it may run kernels, and with which Python.
function M.options()
  return { trusted = vim.g.fencepost_trusted == true or vim.g.fencepost_trusted == 1, python = vim.g.fencepost_python }
end

--- What the client can do beyond Neovim's own: it shows the status of kernels.
function M.capabilities()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = vim.tbl_extend('force', capabilities.experimental or {}, { fencepostStatus = true })
  return capabilities
end

--- The command that starts the server.
function M.command()
  local configured = vim.lsp.config and vim.lsp.config.fencepost and vim.lsp.config.fencepost.cmd
  return configured or vim.g.fencepost_cmd or { 'fencepost', 'lsp' }
end

local missed = false

--- Says once that there is no program to start: `vim.lsp.enable` says nothing.
function M.look()
  local program = M.command()
  if not missed and type(program) == 'table' and vim.fn.executable(program[1]) == 0 then
    missed = true
    M.say(('there is no program %s; see :checkhealth fencepost'):format(program[1]), vim.log.levels.WARN)
  end
end

--- Starts the server on a buffer; for Neovim without vim.lsp.enable.
function M.start(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  vim.lsp.start({
    name = 'fencepost',
    cmd = M.command(),
    root_dir = vim.fs.root(buffer, { 'fencepost.toml', '.git' }) or vim.fs.dirname(name),
    init_options = M.options(),
    capabilities = M.capabilities(),
    handlers = { ['window/showMessage'] = M.on_message },
  }, { bufnr = buffer })
end

function M.say(text, level)
  vim.notify('Fencepost: ' .. text, level or vim.log.levels.INFO)
end

--- What the server has to say. It says who it is to editors that do not, and Neovim says it a second time.
function M.on_message(_, params)
  local levels = { vim.log.levels.ERROR, vim.log.levels.WARN }
  M.say((params.message:gsub('^fencepost: ', '')), levels[params.type])
end

--- The client of a buffer; says where there is none.
function M.of(buffer)
  local client = vim.lsp.get_clients({ bufnr = buffer, name = 'fencepost' })[1]
  if not client then
    M.say('not attached to this buffer; see :checkhealth fencepost', vim.log.levels.WARN)
  end
  return client
end

--- Calls back with the result of a request; says what failed.
function M.request(client, method, params, buffer, done)
  local function handler(err, result)
    if err then
      M.say(err.message or vim.inspect(err), vim.log.levels.ERROR)
    else
      done(result ~= vim.NIL and result or nil)
    end
  end
  if vim.fn.has('nvim-0.11') == 1 then
    client:request(method, params, handler, buffer)
  else
    client.request(method, params, handler, buffer)
  end
end

--- Runs a command of the server.
function M.execute(client, command, argument, buffer)
  M.request(client, 'workspace/executeCommand', { command = command, arguments = { argument } }, buffer, function() end)
end

--- Where the cursor is, as the protocol says it.
function M.position(window, client)
  return vim.lsp.util.make_position_params(window, client.offset_encoding)
end

--- Shows lines in a scratch window below that `q` closes, and whose status line says what they are; gives its buffer.
function M.show(lines, filetype, what)
  vim.cmd('botright new')
  local buffer = vim.api.nvim_get_current_buf()
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].swapfile = false
  -- The number keeps two of the same apart.
  vim.api.nvim_buf_set_name(buffer, ('fencepost://%d/%s'):format(buffer, what))
  M.fill(buffer, lines)
  vim.bo[buffer].filetype = filetype
  vim.wo.wrap = false
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buffer, nowait = true, desc = 'Close' })
  return buffer
end

--- Puts other lines into such a buffer.
function M.fill(buffer, lines)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
end

--- A window that shows a buffer, made if there is none, becomes the current one.
function M.enter(buffer)
  local window = vim.fn.bufwinid(buffer)
  if window == -1 then
    vim.cmd('sbuffer ' .. buffer)
  else
    vim.api.nvim_set_current_win(window)
  end
end

return M
