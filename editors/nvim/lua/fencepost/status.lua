-- What the server says of each kernel, and how far it is with what takes long.
local M = {}

-- What the server said last of each document, by its URI.
local statuses = {}
-- Progress that goes on: `client`, `token`, `title`, `message`, `percentage`.
local bars = {}

local function changed()
  vim.schedule(function()
    pcall(vim.api.nvim_exec_autocmds, 'User', { pattern = 'FencepostStatus', modeline = false })
    vim.cmd.redrawstatus({ bang = true })
  end)
end

--- `fencepost/status`.
function M.on_status(params)
  statuses[params.uri] = params
  changed()
end

--- `LspProgress` of our client.
function M.on_progress(client, params)
  local key, value = client .. '/' .. tostring(params.token), params.value
  if value.kind == 'end' then
    bars[key] = nil
  else
    local bar = bars[key] or { client = client, token = params.token }
    bar.title, bar.cancellable = value.title or bar.title, value.cancellable == nil and bar.cancellable or value.cancellable
    bar.message, bar.percentage = value.message or bar.message, value.percentage or bar.percentage
    bars[key] = bar
  end
  changed()
end

--- What goes on: `title`, `message`, `percentage` of each bar.
function M.progress()
  return vim.tbl_values(bars)
end

--- Asks the server to end what goes on; gives how much that is.
function M.cancel()
  local asked = 0
  for _, bar in pairs(bars) do
    local client = bar.cancellable and vim.lsp.get_client_by_id(bar.client)
    if client then
      local params = { token = bar.token }
      if vim.fn.has('nvim-0.11') == 1 then
        client:notify('window/workDoneProgress/cancel', params)
      else
        client.notify('window/workDoneProgress/cancel', params)
      end
      asked = asked + 1
    end
  end
  return asked
end

--- Forgets what a server said that is gone.
function M.forget(client)
  for key, bar in pairs(bars) do
    bars[key] = bar.client ~= client and bar or nil
  end
  statuses = {}
  changed()
end

--- The kernels of a buffer as the server told them last, in the order of the text.
function M.kernels(buffer)
  local status = statuses[vim.uri_from_bufnr(buffer)]
  local kernels = status and vim.list_slice(status.kernels) or {}
  table.sort(kernels, function(one, other)
    return one.range.start.line < other.range.start.line
  end)
  return kernels
end

--- The name of the kernel around a line (from 1), or of the nearest; nothing where the file has no kernel, or so many
--- of one name that the name says nothing (a dump of passes).
function M.kernel_around(buffer, line)
  local seen, around = {}, nil
  for _, kernel in ipairs(M.kernels(buffer)) do
    if seen[kernel.name] then
      return nil
    end
    seen[kernel.name] = true
    if not around or kernel.range.start.line < line then
      around = kernel.name
    end
  end
  return around
end

local function counted(count, one)
  return ('%d %s%s'):format(count, one, count == 1 and '' or 's')
end

--- For status lines: how far the analysis of a buffer is and what it says, `2 findings, 1 proved, 1 hint`; empty where there
--- is no kernel. A run of a kernel that goes on is behind it. As a second value what the server said, kernel by kernel.
function M.status(buffer)
  local status = statuses[vim.uri_from_bufnr(buffer or vim.api.nvim_get_current_buf())]
  if not status then
    return '', nil
  end
  local of, findings, hints = {}, 0, 0
  for _, kernel in ipairs(status.kernels) do
    of[kernel.state] = (of[kernel.state] or 0) + 1
    findings = findings + kernel.findings
    hints = hints + kernel.hints
  end
  local parts = {}
  if findings > 0 then
    table.insert(parts, counted(findings, 'finding'))
  elseif of.found and hints == 0 then
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
    if hints > 0 then
      table.insert(parts, counted(hints, 'hint'))
    end
  end
  for _, bar in pairs(bars) do
    if (bar.title or ''):match('^Running') then
      table.insert(parts, bar.percentage and ('running %d%%'):format(bar.percentage) or 'running')
    end
  end
  return table.concat(parts, ', '), status
end

return M
