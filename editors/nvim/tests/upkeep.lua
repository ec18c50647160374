-- Restart, log, health and the help file.
return function(test)
  local buffer = test.open('upkeep.ttgir')
  local old = test.client().id
  vim.cmd.FencepostRestart()
  test.wait('another server', function()
    local client = test.client()
    return client and client.id ~= old
  end)
  -- Those of other folders may still be on their way out.
  test.wait('one server', function()
    return #vim.lsp.get_clients({ name = 'fencepost' }) == 1
  end)
  test.wait('the findings of the new one', function()
    return #test.findings() > 0 and require('fencepost').status():match('finding') ~= nil
  end)

  vim.cmd.FencepostLog()
  test.check(vim.api.nvim_buf_get_name(0):match('%.log$') and vim.bo.readonly, 'the log is open')
  vim.cmd('bwipeout')

  -- As a user calls it: the page that `:checkhealth` shows.
  local plugin = vim.api.nvim_get_runtime_file('lua/fencepost/health.lua', false)[1]
  test.check(plugin ~= nil, 'the plugin is on the runtime path')
  vim.cmd('checkhealth fencepost')
  test.wait('the page', function()
    return vim.bo.filetype == 'checkhealth' and test.text():find('running on', 1, true) ~= nil
  end)
  local page = test.text()
  test.check(page:match('fencepost %d+%.%d+%.%d+'), 'the version: ' .. page)
  test.check(not page:find('ERROR', 1, true), 'no error: ' .. page)
  vim.cmd('bwipeout!')

  -- What is missing is said: no program, and an older Neovim.
  local said = {}
  local health = vim.health
  vim.health = setmetatable({}, {
    __index = function(_, level)
      return function(text)
        table.insert(said, level .. ': ' .. text)
      end
    end,
  })
  local command = require('fencepost.client').command
  require('fencepost.client').command = function()
    return { '/none/fencepost', 'lsp' }
  end
  for _ = 1, 2 do
    require('fencepost.client').look()
  end
  local missing = vim.tbl_filter(function(text)
    return text:find('there is no program /none/fencepost', 1, true) ~= nil
  end, test.said)
  test.equal(#missing, 1, 'times that it is said')
  require('fencepost.health').check()
  test.check(table.concat(said, '\n'):find('error: /none/fencepost cannot be executed', 1, true), vim.inspect(said))
  require('fencepost.client').command = command
  local has = vim.fn.has
  vim.fn.has = function()
    return 0
  end
  said = {}
  require('fencepost.health').check()
  test.check(#said == 2 and said[2]:find('needs Neovim 0.10', 1, true), vim.inspect(said))
  vim.fn.has, vim.health = has, health

  -- The help file has its tags, and names each command.
  local doc = vim.fn.fnamemodify(plugin, ':h:h:h') .. '/doc/fencepost.txt'
  local copy = vim.fn.tempname()
  vim.fn.mkdir(copy .. '/doc', 'p')
  vim.fn.writefile(vim.fn.readfile(doc), copy .. '/doc/fencepost.txt')
  vim.cmd.helptags(copy .. '/doc')
  local tags = table.concat(vim.fn.readfile(copy .. '/doc/tags'), '\n')
  test.check(tags:find('\nfencepost\t', 1, true), ':help fencepost opens at its top')
  for name in pairs(vim.api.nvim_get_commands({})) do
    if vim.startswith(name, 'Fencepost') then
      test.check(tags:find((':%s\t'):format(name), 1, true), 'help says nothing of :' .. name)
    end
  end
  vim.api.nvim_set_current_buf(buffer)
  vim.cmd('bwipeout!')
end
