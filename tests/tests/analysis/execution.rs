//! Every kernel of the corpus can be lowered for execution, and is followed as far as for deciding it.

use fencepost_tests::corpus::manifest;
use fencepost_tests::sources::root;
use kernel::{EffectKind, Instr};
use lower::{executables, lower};
use ttgir::Document;

#[test]
fn the_corpus_lowers_for_execution() {
    let folder = root().join("corpus");
    let mut wrong = Vec::new();
    for row in manifest(&folder).expect("a manifest") {
        let text = std::fs::read_to_string(folder.join(&row.file)).expect("a file");
        let document = Document::new(text.as_str());
        for section in document.sections() {
            let tree = section.tree();
            let (decided, executed) = (lower(tree), executables(tree));
            assert_eq!(decided.len(), executed.len(), "{}", row.file);
            for (decided, executed) in decided.iter().zip(&executed) {
                let more = executed.lowered.unmodelled.iter().filter(|item| !decided.unmodelled.contains(item));
                wrong.extend(more.map(|item| format!("{}: {}", row.file, item.reason)));
                let kernel = &executed.lowered.kernel;
                let hosts = kernel.blocks.iter().flat_map(|block| &block.instrs);
                let hosts = hosts.filter(|instr| matches!(instr, Instr::Host(_))).count();
                assert_eq!(hosts, executed.hosts.len(), "{}", row.file);
                let kinds = |kernel: &kernel::Kernel| {
                    let effects = kernel.effects.iter();
                    // Uses of registers are checked where a kernel is decided; executed, they have values.
                    let not_run = |kind: &EffectKind| matches!(kind, EffectKind::Unmodelled | EffectKind::Use { .. });
                    effects.filter(|effect| !not_run(&effect.kind)).count()
                };
                assert!(kinds(kernel) >= kinds(&decided.kernel), "{}", row.file);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
