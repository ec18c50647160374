-- A run on the CPU: agreed to, with asserts as diagnostics; and one that is stopped.
return function(test)
  -- Small enough to end at once, and too long to wait for.
  local recipe = '// fencepost-run: ws_gemm grid=(%d,%d) a_desc=f16[%d,%d] b_desc=f16[%d,%d] c_desc=f16[%d,%d]:nan K=%d'
  local small = recipe:format(1, 1, 128, 320, 320, 128, 128, 128, 320)
  local large = recipe:format(16, 16, 2048, 8960, 8960, 2048, 2048, 2048, 8960)
  local questions = {}
  local function answer(items)
    for number, item in ipairs(items) do
      local title = type(item) == 'table' and item.title or item
      if title:match('Run$') then
        return number
      end
    end
  end
  vim.fn.inputlist = function(lines)
    table.insert(questions, table.concat(lines, '\n'))
    return answer(vim.list_slice(lines, 2))
  end
  vim.ui.select = function(items, options, choose)
    table.insert(questions, options.prompt)
    local number = answer(items)
    choose(items[number], number)
  end

  vim.g.fencepost_trusted = false
  test.open('untrusted.ttgir', { small })
  vim.cmd.FencepostRun()
  test.check(test.heard('nothing runs unless vim.g.fencepost_trusted'), 'nothing runs untrusted')
  vim.cmd('bwipeout!')
  vim.g.fencepost_trusted = true

  test.open('small.ttgir', { small })
  vim.cmd.FencepostRun()
  local function asserted()
    return vim.tbl_filter(function(it)
      return it.source == 'fencepost (run)'
    end, vim.diagnostic.get(0))
  end
  test.wait('an assert', function()
    return #asserted() > 0
  end)
  test.equal(#questions, 1, 'the recipe is shown once before it runs')
  test.check(questions[1]:find('ws_gemm grid=1 ', 1, true), questions[1])
  test.wait('what came of it', function()
    return test.heard('small%.ttgir: asserted under')
  end)
  test.check(test.heard('^Fencepost: small%.ttgir: '), 'the name of the program is said once')
  vim.cmd('bwipeout!')

  test.open('large.ttgir', { large }, test.clean)
  local status = require('fencepost.status')
  vim.cmd('FencepostRun cpu ws_gemm')
  local function bar()
    return vim.tbl_filter(function(it)
      return (it.title or ''):match('^Running')
    end, status.progress())[1]
  end
  test.wait('a bar', function()
    return bar() ~= nil
  end)
  test.check(bar().title:find('large.ttgir', 1, true) and bar().cancellable, vim.inspect(bar()))
  test.wait('the run in the status', function()
    return require('fencepost').status():match('running %d+%%') ~= nil
  end)
  local start = vim.uv.hrtime()
  vim.cmd.FencepostStop()
  test.wait('the end of the run', function()
    return bar() == nil
  end, 5000)
  test.check(vim.uv.hrtime() - start < 5e9, 'the run ends when it is told to')
  test.equal(#asserted(), 0, 'a run that was stopped says nothing')
  vim.cmd.FencepostStop()
  test.check(test.heard('nothing goes on'), 'stopping nothing is said')
  vim.cmd('bwipeout!')
end
