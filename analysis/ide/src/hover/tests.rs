//! Hovers on small texts; `$` marks the cursor and is taken out.

use super::*;
use ttgir::Document;

const HEAD: &str = "#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n\
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n\
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>\n\
#smem = #ttg.shared_memory\n";

const RING: &str = "
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %true = arith.constant true
    %tiles = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #bar, #smem, mutable>
    ttg.warp_specialize(%tiles, %full, %n)
    default {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %slot = arith.remsi %i, %c2 : i32
        %turn = arith.divsi %i, %c2 : i32
        %phase = arith.andi %turn, %c1 : i32
        %it = ttg.memdesc_index %full[%slot] : !ttg.memdesc<2x1xi64, #bar, #smem, mutable> -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
        ttng.wait_barrier %it, %phase, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
        %tile = ttg.memdesc_index %tiles[%slot] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
        %x = ttg.local_load %tile : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      }
      ttg.warp_yield
    }
    partition0(%a: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<2x1xi64, #bar, #smem, mutable>, %m: i32) num_warps(1) {
      ttg.warp_return
    } : (!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<2x1xi64, #bar, #smem, mutable>, i32) -> ()";

fn at(body: &str, what: &str) -> Option<Hover> {
    let text = format!("{HEAD}module {{\n  tt.func public @f(%n: i32) {{{body}\n    tt.return\n  }}\n}}\n");
    let (before, after) = what.split_once('$').expect("a cursor");
    let offset = text.find(&what.replace('$', "")).expect("the place") + before.len();
    let _ = after;
    hover(&Document::new(text), offset as u32)
}

#[test]
fn a_wait_says_what_it_does_and_which_flip_it_sees() {
    let hover = at(RING, "ttng.wait_$barrier").expect("a hover");
    assert!(hover.title.starts_with("ttng.wait_barrier: Waits until the phase"), "{}", hover.title);
    assert_eq!(hover.subject, "%it is %full[%i % 2]: barrier, 2 slots");
    assert!(hover.words.iter().any(|it| it == "Waits on `%full[%i % 2]`."), "{:?}", hover.words);
    let [cadence] = hover.cadence.as_slice() else { panic!("{:?}", hover.cadence) };
    assert_eq!(cadence.slots, [0, 1, 0, 1, 0, 1, 0, 1]);
    assert_eq!(cadence.phases, [0, 0, 1, 1, 0, 0, 1, 1]);
    assert_eq!(cadence.flips, [1, 1, 2, 2, 3, 3, 4, 4]);
    assert!(!cadence.repeats);
}

#[test]
fn a_wait_for_a_free_slot_goes_on_at_once_the_first_time() {
    let free = RING.replace(
        "%phase = arith.andi %turn, %c1 : i32",
        "%bit = arith.andi %turn, %c1 : i32\n        %phase = arith.xori %bit, %c1 : i32",
    );
    let hover = at(&free, "ttng.wait_$barrier").expect("a hover");
    assert_eq!(hover.cadence.first().map(|it| it.flips.clone()), Some(vec![0, 0, 1, 1, 2, 2, 3, 3]));
    let stuck = RING.replace("%phase = arith.andi %turn, %c1 : i32", "%phase = arith.andi %c0, %c1 : i32");
    let hover = at(&stuck, "ttng.wait_$barrier").expect("a hover");
    let cadence = hover.cadence.first().expect("a cadence");
    assert_eq!((cadence.flips.clone(), cadence.repeats), (vec![1; 8], true));
}

#[test]
fn nothing_is_said_of_a_phase_that_is_not_known() {
    let open = RING.replace("scf.for %i = %c0", "scf.for %i = %n");
    let hover = at(&open, "ttng.wait_$barrier").expect("a hover");
    assert_eq!(hover.cadence, []);
    assert_eq!(hover.rows.len(), 1);
}

#[test]
fn a_buffer_has_slots_sizes_readers_and_other_names() {
    let hover = at(RING, "%til$es = ttg.local_alloc").expect("a hover");
    assert_eq!(hover.words.first().map(String::as_str), Some("2 slots of 8 KiB; 16 KiB in all."));
    assert!(
        hover.words.iter().any(|it| it == "Also known as `%a` in partition0, `%tile` `[%i % 2]`."),
        "{:?}",
        hover.words
    );
    let rows: Vec<(&str, &str)> = hover.rows.iter().map(|row| (row.verb.as_str(), row.detail.as_str())).collect();
    assert_eq!(rows, [("reads", "ttg.local_load")]);
    assert!(hover.picture.starts_with("row 0: 0 1 2 3 4 5 6 7\nrow 1: 1 0 3 2 5 4 7 6"), "{}", hover.picture);
    assert!(hover.kernel.is_some());
}

#[test]
fn an_op_says_what_it_reads_and_how() {
    let hover = at(RING, "ttg.local$_load").expect("a hover");
    assert!(
        hover.words.iter().any(|it| it.starts_with("Reads `%tiles[%i % 2]` through the generic proxy")),
        "{:?}",
        hover.words
    );
}

#[test]
fn types_aliases_and_layouts_are_said_in_words() {
    let hover = at(RING, "tensor<64x$64xf16, #blocked>").expect("a hover");
    assert_eq!(hover.words.first().map(String::as_str), Some("A tensor of 64x64 f16 in registers."));
    assert!(hover.words.iter().any(|it| it.contains("64x64 repeats that 2x2 times")), "{:?}", hover.words);
    let alias = at(RING, "#bloc$ked>").expect("a hover");
    assert!(alias.title.starts_with("#blocked = #ttg.blocked<{"), "{}", alias.title);
    assert!(alias.words.iter().any(|it| it.contains("64x64 repeats that 2x2 times")), "{:?}", alias.words);
    let defined = at(RING, "#ttg.nvmma$_shared<").expect("a hover");
    assert!(defined.picture.contains("row 7: 7 6 5 4 3 2 1 0"), "{}", defined.picture);
    let buffer = at(RING, "!ttg.mem$desc<2x1xi64").expect("a hover");
    assert!(buffer.words[0].starts_with("A buffer of 2x1 i64 in shared memory, 16 bytes"), "{:?}", buffer.words);
    assert!(at(RING, "#sm$em = ").is_some());
    assert_eq!(at("\n    // #shared is not meant", "#share$d is"), None);
}

#[test]
fn a_number_goes_by_the_name_of_its_location() {
    let body = "\n    %c2 = arith.constant 2 : i32\n    %0 = tt.get_program_id x : i32 loc(\"tile\"(\"k.py\":3:1))\n    \
                %1 = arith.remsi %0, %c2 : i32\n    %2 = arith.addi %1, %1 : i32";
    assert_eq!(at(body, "%$0, %c2").map(|hover| hover.title), Some("%0 (tile): i32".to_owned()));
    assert_eq!(at(body, "%$1, %1").map(|hover| hover.title), Some("%1: i32 = tile % 2".to_owned()));
}

#[test]
fn the_name_of_a_kernel_says_who_executes_it() {
    let hover = at(RING, "@$f(%n: i32)").expect("a hover");
    assert_eq!((hover.title.as_str(), hover.kernel), ("@f", Some(hover.range)));
    assert_eq!(hover.words, ["Executed by `default` and `partition0` of 1 warp."]);
}
