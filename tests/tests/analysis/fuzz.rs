//! A few mutated inputs; `cargo run --release -p fencepost-tests --bin fuzz -- --seconds 1800` makes many.

use fencepost_tests::fuzz::{MEMORY, Until, fuzz, targets};

#[test]
fn no_reader_panics() {
    for target in targets(None) {
        assert!(!target.inputs.is_empty(), "{} has inputs", target.name);
        let done = fuzz(&target, 3, Until::Inputs(6), MEMORY, &mut |_| {});
        let panics = done.troubles.iter().filter(|trouble| trouble.what.starts_with("panics"));
        let said: Vec<String> =
            panics.map(|trouble| format!("{}\n{}", trouble.what, String::from_utf8_lossy(&trouble.input))).collect();
        assert!(said.is_empty(), "{}: {}", target.name, said.join("\n"));
        assert_eq!(done.inputs, 6);
    }
}
