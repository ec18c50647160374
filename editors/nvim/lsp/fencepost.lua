-- Configuration for vim.lsp.enable('fencepost'), Neovim 0.11 and newer.
return {
  cmd = vim.g.fencepost_cmd or { 'fencepost', 'lsp' },
  -- Of Python the server looks at files that mention Gluon.
  filetypes = { 'ttgir', 'python' },
  root_markers = { 'fencepost.toml', '.git' },
  capabilities = require('fencepost').capabilities(),
  handlers = {
    ['window/showMessage'] = function(...)
      return require('fencepost.client').on_message(...)
    end,
  },
  before_init = function(params)
    params.initializationOptions = require('fencepost').options()
  end,
}
