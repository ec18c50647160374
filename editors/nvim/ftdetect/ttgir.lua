vim.filetype.add({ extension = { ttgir = 'ttgir', ttir = 'ttgir' } })
