-- What the plugin does beyond starting the server: the run of a finding, and the page of a kind.
local M = {}

--- Starts the server on a buffer; for Neovim without vim.lsp.enable.
function M.start(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local git = vim.fs.find('.git', { path = vim.fs.dirname(name), upward = true })[1]
  vim.lsp.start({
    name = 'fencepost',
    cmd = vim.g.fencepost_cmd or { 'fencepost', 'lsp' },
    root_dir = git and vim.fs.dirname(git) or vim.fs.dirname(name),
  }, { bufnr = buffer })
end

local function client_of(buffer)
  local get = vim.lsp.get_clients or vim.lsp.get_active_clients
  local client = get({ bufnr = buffer, name = 'fencepost' })[1]
  if not client then
    vim.notify('Fencepost is not attached to this buffer; see :checkhealth fencepost', vim.log.levels.WARN)
  end
  return client
end

--- Calls back with the result of a request; says what failed.
local function request(client, method, params, buffer, done)
  local function handler(err, result)
    if err then
      vim.notify('Fencepost: ' .. (err.message or vim.inspect(err)), vim.log.levels.ERROR)
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

--- Shows lines in a scratch window that `q` closes.
local function show(lines, filetype)
  vim.cmd('botright new')
  local buffer = vim.api.nvim_get_current_buf()
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].swapfile = false
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].filetype = filetype
  vim.wo.wrap = false
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buffer, nowait = true })
end

--- Shows the run of the finding under the cursor; its steps become the location list.
function M.show_run()
  local window, buffer = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  local client = client_of(buffer)
  if not client then
    return
  end
  local params = vim.lsp.util.make_position_params(window, client.offset_encoding)
  params.width = vim.o.columns
  request(client, 'fencepost/run', params, buffer, function(run)
    if not run then
      vim.notify('Fencepost has no finding here')
      return
    end
    local items = {}
    for number, step in ipairs(run.steps) do
      local item = vim.lsp.util.locations_to_items({ step.location }, client.offset_encoding)[1]
      if item then
        item.text = ('step %d, %s: %s'):format(number, step.partition, step.text)
        item.user_data = nil
        table.insert(items, item)
      end
    end
    vim.fn.setloclist(window, {}, ' ', { title = run.kind .. ': ' .. run.message, items = items })
    local lines = { run.kind, run.message, '' }
    vim.list_extend(lines, vim.split(run.text, '\n', { trimempty = true }))
    show(lines, 'fencepostrun')
  end)
end

--- The kind of the finding under the cursor.
local function kind_here()
  local line, column = vim.fn.line('.') - 1, vim.fn.col('.') - 1
  for _, diagnostic in ipairs(vim.diagnostic.get(0, { lnum = line })) do
    local hit = diagnostic.source == 'fencepost' and diagnostic.col <= column
    if hit and (diagnostic.end_lnum > line or column < diagnostic.end_col) then
      return diagnostic.code
    end
  end
end

--- Shows the page of a kind.
function M.explain(kind)
  local buffer = vim.api.nvim_get_current_buf()
  local client = client_of(buffer)
  kind = kind or kind_here()
  if not client then
    return
  elseif not kind then
    vim.notify('Fencepost has no finding here')
    return
  end
  request(client, 'fencepost/explain', { kind = kind }, buffer, function(page)
    if page then
      show(vim.split(page, '\n'), 'markdown')
    else
      vim.notify(('Fencepost knows no kind %q'):format(kind), vim.log.levels.WARN)
    end
  end)
end

return M
