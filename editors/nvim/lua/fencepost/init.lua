-- What the plugin does beyond starting the server: the run of a finding, and the page of a kind.
local M = {}

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

--- Starts the server on a buffer; for Neovim without vim.lsp.enable.
function M.start(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local git = vim.fs.find('.git', { path = vim.fs.dirname(name), upward = true })[1]
  vim.lsp.start({
    name = 'fencepost',
    cmd = vim.g.fencepost_cmd or { 'fencepost', 'lsp' },
    root_dir = git and vim.fs.dirname(git) or vim.fs.dirname(name),
    init_options = M.options(),
    capabilities = M.capabilities(),
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

--- Shows lines in a scratch window that `q` closes; gives its buffer.
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
  return buffer
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

--- Runs the buffer's kernels under instrumentation: `cpu`, `gpu`, or `gsan`. The server shows the recipe first.
function M.launch(how, kernel)
  local buffer = vim.api.nvim_get_current_buf()
  local client = client_of(buffer)
  if not client then
    return
  end
  if not M.options().trusted then
    vim.notify('Fencepost runs nothing unless vim.g.fencepost_trusted is set; see :help fencepost-launch', vim.log.levels.WARN)
    return
  end
  local order = {
    uri = vim.uri_from_bufnr(buffer),
    kernel = kernel,
    backend = (how == 'gpu' or how == 'gsan') and 'gpu' or 'cpu',
    instrument = how == 'gsan' and 'gsan' or 'consan',
  }
  local params = { command = 'fencepost.runKernel', arguments = { order } }
  request(client, 'workspace/executeCommand', params, buffer, function() end)
end

--- The kind of the finding under the cursor.
local function kind_here()
  local line, column = vim.fn.line('.') - 1, vim.fn.col('.') - 1
  for _, diagnostic in ipairs(vim.diagnostic.get(0, { lnum = line })) do
    local ours = diagnostic.source == 'fencepost' or diagnostic.source == 'fencepost (run)'
    local hit = ours and diagnostic.col <= column
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

-- Reports that are shown, by the number of their buffer: `source`, `uri`, `kernel`, `section`.
local reports = {}

local function fill(report, lines)
  vim.bo[report].modifiable = true
  vim.api.nvim_buf_set_lines(report, 0, -1, false, lines)
  vim.bo[report].modifiable = false
end

--- Asks for a report and hands over its lines, unless a later question was asked meanwhile.
local function ask(report, done)
  local of = reports[report]
  local client = of and vim.api.nvim_buf_is_valid(of.source) and client_of(of.source)
  if not client then
    return
  end
  of.asked = (of.asked or 0) + 1
  local asked = of.asked
  local params = { uri = of.uri, kernel = of.kernel, section = of.section, width = 100 }
  request(client, 'fencepost/reportText', params, of.source, function(answer)
    if answer and reports[report] == of and of.asked == asked and vim.api.nvim_buf_is_valid(report) then
      done(vim.split(answer.text, '\n', { trimempty = true }))
    end
  end)
end

--- Goes to the line of the kernel that the report names under or before the cursor.
local function jump(report)
  local line, column = vim.api.nvim_get_current_line(), vim.fn.col('.')
  local target, at = nil, 1
  while true do
    local from, to, word, number = line:find('(lines?) (%d+)', at)
    if not from or (target and from > column) then
      break
    end
    target, at = number, to + 1
    -- Lines that stand in a row: `lines 12, 14`.
    while word == 'lines' do
      local next_from, next_to, next_number = line:find('^, (%d+)', at)
      if not next_from or next_from >= column then
        break
      end
      target, at = next_number, next_to + 1
    end
  end
  target = tonumber(target or line:match('^%s+(%d+)%s'))
  local of = reports[report]
  if not target or not of or not vim.api.nvim_buf_is_valid(of.source) then
    vim.notify('Fencepost: no line is named here')
    return
  end
  local window = vim.fn.bufwinid(of.source)
  if window == -1 then
    vim.cmd('sbuffer ' .. of.source)
  else
    vim.api.nvim_set_current_win(window)
  end
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { math.min(target, vim.api.nvim_buf_line_count(0)), 0 })
end

--- Shows the barrier report of the buffer's kernel in a window that follows its edits.
function M.show_report(kernel, section)
  local source = vim.api.nvim_get_current_buf()
  if not client_of(source) then
    return
  end
  local report = show({ 'The barrier report is being made.' }, 'fencepostreport')
  reports[report] = { source = source, uri = vim.uri_from_bufnr(source), kernel = kernel, section = section }
  vim.keymap.set('n', '<CR>', function()
    jump(report)
  end, { buffer = report, desc = 'Go to the line that is named here' })
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = report,
    callback = function()
      reports[report] = nil
    end,
  })
  ask(report, function(lines)
    fill(report, lines)
  end)
end

--- `fencepost/reportChanged`: every report of the document is asked for anew, and keeps its place.
function M.on_report_changed(_, params)
  for report, of in pairs(reports) do
    if of.uri == params.uri then
      ask(report, function(lines)
        local views = {}
        for _, window in ipairs(vim.fn.win_findbuf(report)) do
          views[window] = vim.api.nvim_win_call(window, vim.fn.winsaveview)
        end
        fill(report, lines)
        for window, view in pairs(views) do
          vim.api.nvim_win_call(window, function()
            vim.fn.winrestview(view)
          end)
        end
      end)
    end
  end
end

-- What the server said last of each document, by its URI.
local statuses = {}

--- `fencepost/status`.
function M.on_status(_, params)
  statuses[params.uri] = params
  vim.schedule(function()
    pcall(vim.api.nvim_exec_autocmds, 'User', { pattern = 'FencepostStatus', modeline = false })
    vim.cmd.redrawstatus({ bang = true })
  end)
end

local function counted(count, one)
  return ('%d %s%s'):format(count, one, count == 1 and '' or 's')
end

--- For status lines: how far the analysis of a buffer is and what it says, `2 findings, 1 proved`; empty where there
--- is no kernel. As a second value what the server said, kernel by kernel.
function M.status(buffer)
  local name = vim.uri_from_bufnr(buffer or vim.api.nvim_get_current_buf())
  local status = statuses[name]
  if not status then
    return '', nil
  end
  local of, findings = {}, 0
  for _, kernel in ipairs(status.kernels) do
    of[kernel.state] = (of[kernel.state] or 0) + 1
    findings = findings + kernel.findings
  end
  local parts = {}
  if findings > 0 then
    table.insert(parts, counted(findings, 'finding'))
  elseif of.found then
    table.insert(parts, 'findings suppressed')
  end
  if status.state ~= 'done' then
    table.insert(parts, 1, status.state == 'queued' and 'queued' or 'analysing')
  else
    for _, state in ipairs({ 'undecided', 'stale', 'proved', 'clean' }) do
      if of[state] then
        table.insert(parts, ('%d %s'):format(of[state], state))
      end
    end
  end
  return table.concat(parts, ', '), status
end

--- Marks in the buffer what a saved log of a run says.
function M.replay(log)
  local buffer = vim.api.nvim_get_current_buf()
  local client = client_of(buffer)
  if client then
    local order = { uri = vim.uri_from_bufnr(buffer), log = vim.fn.fnamemodify(log, ':p') }
    local params = { command = 'fencepost.replayLog', arguments = { order } }
    request(client, 'workspace/executeCommand', params, buffer, function() end)
  end
end

return M
