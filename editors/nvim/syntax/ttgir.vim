" TTGIR: colours only; what a kernel means, the server says.
if exists('b:current_syntax')
  finish
endif

syntax match ttgirNumber /\v<-?(0x\x+|\d+(\.\d*)?([eE][-+]?\d+)?)>/
syntax match ttgirType /\v<[su]?i\d+>|<bf16>|<t?f\d+>|<f8E\w+>|<index>|<(tensor|vector|memref)\ze\</
syntax match ttgirOp /\v<(tt|ttg|ttng|nvws|amdg|tlx|tti|proton|gluon|arith|math|scf|cf|func|ub|gpu|llvm|nvvm|builtin)\.\h[a-zA-Z0-9_.]*/
syntax match ttgirBarrier /\v<(ttg|ttng|tlx|nvws|gpu|amdg)\.\h*(barrier|fence|commit|wait)\h*/
syntax match ttgirFunction /\v\@[a-zA-Z0-9_$.]+/
syntax match ttgirValue /\v\%[a-zA-Z0-9_$.-]+([:#]\d+)?/
syntax match ttgirLabel /\v\^[a-zA-Z0-9_$.]+/
syntax match ttgirAlias /\v[#!]\h[a-zA-Z0-9_$.]*/
syntax keyword ttgirKeyword module attributes loc callsite fused iter_args to step else do while default public private
syntax keyword ttgirBoolean true false unit dense unknown
syntax region ttgirString start=/"/ skip=/\\./ end=/"/ oneline
syntax match ttgirComment /\/\/.*$/

highlight default link ttgirNumber Number
highlight default link ttgirType Type
highlight default link ttgirOp Statement
highlight default link ttgirBarrier Special
highlight default link ttgirFunction Function
highlight default link ttgirValue Identifier
highlight default link ttgirLabel Label
highlight default link ttgirAlias PreProc
highlight default link ttgirKeyword Keyword
highlight default link ttgirBoolean Boolean
highlight default link ttgirString String
highlight default link ttgirComment Comment

let b:current_syntax = 'ttgir'
