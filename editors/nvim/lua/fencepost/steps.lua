-- The steps of a run as the server sends them: their places, their lines in the drawing, what barriers count.
local M = {}

--- A text in lines of at most so many bytes, cut between words.
function M.wrapped(text, width)
  local lines = { '' }
  for word in text:gmatch('%S+') do
    local last = lines[#lines]
    if last == '' then
      lines[#lines] = word
    elseif #last + 1 + #word <= width then
      lines[#lines] = last .. ' ' .. word
    else
      table.insert(lines, '  ' .. word)
    end
  end
  return lines
end

--- What barriers count after a step, a line each: those that the finding is about, and those that the step has changed
--- (`*` in front). Empty where the server sends none.
function M.state_of(step)
  local lines = {}
  for _, barrier in ipairs(type(step.barriers) == 'table' and step.barriers or {}) do
    if barrier.concerned or barrier.changed then
      table.insert(lines, ('  %s %s: %s'):format(barrier.changed and '*' or ' ', barrier.name, barrier.words))
    end
  end
  return lines
end

--- Puts an extmark at each step, so that edits do not lead astray, and gives the steps as a location list.
function M.mark(source, namespace, steps, encoding)
  local items = {}
  for number, step in ipairs(steps) do
    -- A step without a place of its own stands where the location list says nothing.
    local item = vim.lsp.util.locations_to_items({ step.location }, encoding)[1] or { bufnr = source, lnum = 1, col = 1 }
    if step.location.uri == vim.uri_from_bufnr(source) then
      step.mark = vim.api.nvim_buf_set_extmark(source, namespace, item.lnum - 1, item.col - 1, {
        id = number,
        end_row = (item.end_lnum or item.lnum) - 1,
        end_col = (item.end_col or item.col) - 1,
        strict = false,
      })
    end
    item.text = ('step %d, %s: %s'):format(number, step.partition, step.text)
    item.user_data = nil
    table.insert(items, item)
  end
  return items
end

--- The line of the drawing at which each step begins. The lanes of a finding number its steps from 1, the drawing of a
--- whole run has the numbers of that run.
function M.rows(answer, lines, head)
  local index = {}
  for number, step in ipairs(answer.steps) do
    index[answer.kind and number or step.number] = number
  end
  local rows = {}
  for at = head + 1, #lines do
    local step = lines[at]:match("^[,:'*%s]*(%d+)%s+%d+%s")
    local number = step and index[tonumber(step)]
    if number then
      rows[number] = rows[number] or at
    end
  end
  return rows
end

return M
