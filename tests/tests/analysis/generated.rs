//! A few kernels that are made at random; `cargo run --release -p fencepost-tests --bin generated -- 20000` makes many.

use base::rng::SplitMix64;
use fencepost_tests::generate::{Design, Seen, judge, ran};

#[test]
fn what_is_right_is_clean_and_computes_what_it_should() {
    for number in 0..48 {
        let design = Design::random(&mut SplitMix64::stream(1, number));
        let kernel = design.write(None);
        let answer = judge(&kernel);
        assert!(matches!(answer.verdict, "proved" | "clean") && answer.found.is_empty(), "{answer:?}\n{}", kernel.text);
        let ir = answer.ir.expect("it was elaborated");
        if !design.is_run() {
            continue;
        }
        assert_eq!(ran(&design, &kernel, &ir, 2), Seen::Right, "{}", kernel.text);
    }
}

#[test]
fn each_slip_is_found() {
    for number in 24..32 {
        let design = Design::random(&mut SplitMix64::stream(1, number));
        for slip in design.slips() {
            let kernel = design.write(Some(slip));
            let answer = judge(&kernel);
            assert!(answer.verdict == "found" && !answer.found.is_empty(), "{slip:?}: {answer:?}\n{}", kernel.text);
        }
    }
}
