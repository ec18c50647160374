-- What the commands of the plugin do; each part is loaded when it is needed.
local client = require('fencepost.client')
local status = require('fencepost.status')

local M = { options = client.options, capabilities = client.capabilities, start = client.start, status = status.status }

--- Shows the run of the finding at the cursor, or of the nearest in its kernel, ready to be stepped through.
function M.trace(kind)
  require('fencepost.trace').show(kind)
end

--- Goes some steps on in the run that is shown, or back.
function M.step(by)
  require('fencepost.trace').step(by)
end

--- Shows the ops that a kernel in Python is analysed as, beside it.
function M.ir(kernel, instance)
  require('fencepost.ir').show(kernel, instance)
end

--- Shows the barrier report of a kernel, in step with its edits.
function M.report(kernel, section)
  require('fencepost.report').show(kernel, section)
end

--- Runs a kernel under instrumentation (`cpu`, `gpu` or `gsan`), by default that around the cursor; `*` is all of them.
--- The server shows the recipe first.
function M.run(how, kernel)
  local buffer = vim.api.nvim_get_current_buf()
  local server = client.of(buffer)
  if not server then
    return
  elseif not M.options().trusted then
    client.say('nothing runs unless vim.g.fencepost_trusted is set; see :help fencepost-run', vim.log.levels.WARN)
    return
  end
  if not kernel then
    kernel = status.kernel_around(buffer, vim.fn.line('.'))
  elseif kernel == '*' then
    kernel = nil
  end
  client.execute(server, 'fencepost.runKernel', {
    uri = vim.uri_from_bufnr(buffer),
    kernel = kernel,
    backend = (how == 'gpu' or how == 'gsan') and 'gpu' or 'cpu',
    instrument = how == 'gsan' and 'gsan' or 'consan',
  }, buffer)
end

--- Asks the server to end what takes long: a run, an analysis.
function M.stop()
  if status.cancel() == 0 then
    client.say('nothing goes on that could be stopped')
  end
end

--- Marks in the buffer what a saved log of a run says.
function M.replay(log)
  local buffer = vim.api.nvim_get_current_buf()
  local server = client.of(buffer)
  if server then
    local order = { uri = vim.uri_from_bufnr(buffer), log = vim.fn.fnamemodify(log, ':p') }
    client.execute(server, 'fencepost.replayLog', order, buffer)
  end
end

--- The finding of ours under the cursor, or else the nearest of its line.
local function finding_here()
  local line, column = vim.fn.line('.') - 1, vim.fn.col('.') - 1
  local nearest, distance
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    local ours = (diagnostic.source or ''):match('^fencepost') and diagnostic.code
    local last = diagnostic.end_lnum or diagnostic.lnum
    if ours and diagnostic.lnum <= line and line <= last then
      local from = diagnostic.lnum == line and diagnostic.col or 0
      local to = last == line and diagnostic.end_col or math.huge
      local away = math.max(from - column, column - to, 0)
      if not distance or away < distance then
        nearest, distance = diagnostic, away
      end
    end
  end
  return nearest
end

--- Shows the page of a kind, by default that of the finding on the line of the cursor.
function M.explain(kind)
  local buffer = vim.api.nvim_get_current_buf()
  local server = client.of(buffer)
  local here = not kind and finding_here() or nil
  kind = kind or (here and here.code)
  if not server then
    return
  elseif not kind then
    client.say('no finding on this line; :FencepostExplain KIND shows the page of a kind')
    return
  end
  client.request(server, 'fencepost/explain', { kind = kind }, buffer, function(page)
    if page then
      client.show(vim.split(page, '\n'), 'markdown', kind)
    else
      client.say(('there is no kind %q'):format(kind), vim.log.levels.WARN)
    end
  end)
end

--- Says of each kernel of the buffer what the analysis came to.
function M.verdicts()
  local buffer = vim.api.nvim_get_current_buf()
  local _, said = M.status(buffer)
  if not said then
    client.say(client.of(buffer) and 'no kernel in this buffer' or 'no server on this buffer')
    return
  end
  local lines = vim.tbl_map(function(kernel)
    local findings = kernel.findings > 0 and (', findings: %d'):format(kernel.findings) or ''
    local hints = kernel.hints > 0 and (', hints: %d'):format(kernel.hints) or ''
    return ('%s, line %d: %s%s%s'):format(kernel.name, kernel.range.start.line + 1, kernel.state, findings, hints)
  end, status.kernels(buffer))
  for _, name in ipairs(said.earlier or {}) do
    table.insert(lines, name .. ': analysing')
  end
  client.say(said.state .. '\n' .. table.concat(lines, '\n'))
end

--- Stops the server and starts it anew on its buffers, with the settings as they are now.
function M.restart()
  local running = vim.lsp.get_clients({ name = 'fencepost' })
  if #running == 0 then
    vim.cmd('doautoall FileType')
    return
  end
  for _, old in ipairs(running) do
    local config, buffers = vim.deepcopy(old.config), vim.tbl_keys(old.attached_buffers)
    config.cmd, config.init_options = client.command(), client.options()
    if vim.fn.has('nvim-0.11') == 1 then
      old:stop()
    else
      old.stop()
    end
    local function again(left)
      local gone = vim.lsp.get_client_by_id(old.id) == nil
      if not gone and left > 0 then
        vim.defer_fn(function()
          again(left - 1)
        end, 50)
        return
      elseif not gone and vim.fn.has('nvim-0.11') == 1 then
        old:stop(true)
      elseif not gone then
        old.stop(true)
      end
      status.forget(old.id)
      for _, buffer in ipairs(buffers) do
        if vim.api.nvim_buf_is_loaded(buffer) then
          vim.lsp.start(config, { bufnr = buffer })
        end
      end
    end
    again(60)
  end
end

--- Opens the log in which Neovim keeps what servers say.
function M.log()
  local path = vim.lsp.log and vim.lsp.log.get_filename and vim.lsp.log.get_filename() or vim.lsp.get_log_path()
  vim.cmd.split(vim.fn.fnameescape(path))
  vim.bo.readonly, vim.bo.autoread = true, true
  vim.cmd('normal! G')
end

-- Words that can stand behind a command, by its name; each a function of what stands before it.
local words = {
  FencepostTrace = function()
    local kinds = {}
    for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
      if diagnostic.source == 'fencepost' and not vim.tbl_contains(kinds, diagnostic.code) then
        table.insert(kinds, diagnostic.code)
      end
    end
    return kinds
  end,
  FencepostRun = function(before)
    return #before == 0 and { 'cpu', 'gpu', 'gsan' } or M.kernel_names({ '*' })
  end,
  FencepostReport = function(before)
    return #before == 0 and M.kernel_names({}) or {}
  end,
  FencepostIr = function(before)
    return #before == 0 and M.kernel_names({}) or {}
  end,
  FencepostExplain = function()
    local program = client.command()
    local out = type(program) == 'table' and vim.fn.systemlist({ program[1], 'explain' }) or {}
    return vim.tbl_map(function(line)
      return line:match('^(%l[%l-]+)%s')
    end, out)
  end,
}

function M.kernel_names(also)
  local names = vim.tbl_map(function(kernel)
    return kernel.name
  end, status.kernels(vim.api.nvim_get_current_buf()))
  return vim.list_extend(names, also)
end

--- Completion of the commands.
function M.complete(lead, line)
  local parts = vim.split(vim.trim(line:sub(1, #line - #lead)), '%s+')
  local of = words[parts[1]]
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, of and of(vim.list_slice(parts, 2)) or {})
end

return M
