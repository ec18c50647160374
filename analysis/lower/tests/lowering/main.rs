//! Own small kernels; what they lower to is compared in the text form, with the names of the
//! TTGIR in place of numbers.

mod amd;
mod autows;
mod broken;
mod clusters;
mod flow;
mod rows;
mod same;
mod scalars;
mod tasks;
mod tokens;
mod views;

use kernel::{Lowered, text};
use ttgir::Tree;

const HEAD: &str = r##"
#r = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
!bar = !ttg.memdesc<1xi64, #b, #smem, mutable>
!tile = !ttg.memdesc<128x128xf16, #s, #smem, mutable>
!acc = !ttg.memdesc<128x128xf32, #t, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
"##;

const ENTRY: &str = "
  tt.func public @kernel(%ptr: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %c: i1,
      %desc: !tt.tensordesc<128x128xf16, #s>, %v: tensor<128x128xf16, #r>, %w: tensor<128x128xf32, #r>, %d: tensor<128x128xf32, #mma>,
      %rows: tensor<128xi32, #ttg.slice<{dim = 0, parent = #r}>>, %ptrs: tensor<128x128x!tt.ptr<f16>, #r>, %word: !ttg.memdesc<1xi64, #b, #smem, mutable>) {
    %true = arith.constant true
    %false = arith.constant false
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
";

/// Lowers the one kernel of a whole module's body.
fn module(functions: &str) -> Lowered {
    module_in(HEAD, functions)
}

/// The same, under another head.
fn module_in(head: &str, functions: &str) -> Lowered {
    let text = format!("{head}{functions}\n}}\n");
    let tree = Tree::parse(&text);
    let mut errors = String::new();
    for error in tree.errors() {
        errors += &format!("{}: `{}`\n", error.message, error.range.of(&text));
    }
    assert!(errors.is_empty(), "{errors}{text}");
    let mut kernels = lower::lower(&tree);
    assert_eq!(kernels.len(), 1, "one entry");
    kernels.remove(0)
}

/// Lowers a function of this body.
fn kernel(body: &str) -> Lowered {
    module(&format!("{ENTRY}{body}\n    tt.return\n  }}"))
}

/// The text form with names for numbers, a line each.
fn printed(lowered: &Lowered) -> Vec<String> {
    let printed = text::print(&lowered.kernel);
    let again = text::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(again.kernel, lowered.kernel, "canonical kernels round-trip");
    printed.lines().map(|line| named(line.trim(), lowered)).collect()
}

fn named(line: &str, lowered: &Lowered) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['%', '$']) {
        let digits = rest[at + 1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - at - 1);
        let number: usize = rest[at + 1..at + 1 + digits].parse().unwrap_or(usize::MAX);
        let name = match &rest[at..=at] {
            "%" => lowered.map.vars.get(number).cloned().flatten(),
            _ => lowered.map.buffers.get(number).map(|(name, _)| name.replace('%', "$")),
        };
        out += &rest[..at];
        out += &name.unwrap_or_else(|| rest[at..at + 1 + digits].to_owned());
        rest = &rest[at + 1 + digits..];
    }
    out + rest
}

/// The effects, without their sites.
fn effects(lowered: &Lowered) -> Vec<String> {
    let words = ["return", "exit", "join", "fork"];
    printed(lowered)
        .into_iter()
        .filter_map(|line| match line.split_once(" = @") {
            Some((dst, effect)) => effect.split_once(' ').map(|(_, effect)| format!("{dst} = {effect}")),
            None => line.strip_prefix('@')?.split_once(' ').map(|(_, effect)| effect.to_owned()),
        })
        .filter(|effect| !words.iter().any(|word| effect.starts_with(word)))
        .collect()
}

/// The reasons of what was left out, with the op.
fn left_out(lowered: &Lowered) -> Vec<String> {
    lowered.unmodelled.iter().map(|item| item.reason.to_string()).collect()
}

const STORAGE: &str = "
    %a = ttg.local_alloc : () -> !tile
    %b = ttg.local_alloc : () -> !tile
    %bar = ttg.local_alloc : () -> !bar
    %acc = ttng.tmem_alloc : () -> !acc
";

/// Checks the effects of ops that follow four allocations.
#[track_caller]
fn check(ops: &str, expected: &[&str]) {
    let lowered = kernel(&format!("{STORAGE}{ops}"));
    let effects = effects(&lowered);
    assert_eq!(effects[..4], ["alloc $a", "alloc $b", "alloc $bar", "alloc $acc"]);
    assert_eq!(effects[4..], *expected, "\n{ops}");
    assert_eq!(left_out(&lowered), Vec::<String>::new());
}

/// Checks that ops after four allocations are one unmodelled effect, for a reason that has `word`.
#[track_caller]
fn check_unmodelled(ops: &str, word: &str) {
    let lowered = kernel(&format!("{STORAGE}{ops}"));
    let effects = effects(&lowered);
    assert_eq!(effects[4..], ["unmodelled"], "\n{ops}");
    let reasons = left_out(&lowered);
    assert!(reasons.len() == 1 && reasons[0].contains(word), "{reasons:?}");
}
