if vim.filetype then
  vim.filetype.add({ extension = { ttgir = 'ttgir', ttir = 'ttgir' } })
else
  vim.cmd('autocmd BufRead,BufNewFile *.ttgir,*.ttir setfiletype ttgir')
end
