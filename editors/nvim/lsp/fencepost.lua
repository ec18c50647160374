-- Configuration for vim.lsp.enable('fencepost'), Neovim 0.11 and newer.
return {
  cmd = { 'fencepost', 'lsp' },
  filetypes = { 'ttgir' },
  root_markers = { '.git' },
}
