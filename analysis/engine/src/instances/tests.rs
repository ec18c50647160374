//! What an edit costs, where findings stand, and fixes that were tried.

use std::sync::Arc;

use super::{Config, Elaborator, PythonFile};
use crate::{Analysis, Engine};
use base::{Cancel, Limits};
use findings::Verdict;
use python::syntax::NoSources;

const TEXT: &str = "\
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma


def unrelated():
    return 1


# fencepost: desc=fp16[64,64], num_warps=4, num_ctas=1, target=sm_90
@gluon.jit
def copy_tile(desc):
    tile = gl.allocate_shared_memory(desc.dtype, desc.block_shape, desc.layout)
    ready = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.expect(ready, desc.nbytes_per_cta)
    tma.async_load(desc, [0, 0], ready, tile)
    mbarrier.wait(ready, 1)
    value = tile.load(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))
";

/// A file that is edited.
struct Session {
    engine: Engine,
    elaborator: Elaborator,
    script: PythonFile,
}

impl Session {
    fn new(text: &str) -> Session {
        let (engine, elaborator) = (Engine::new(Limits::default()), Elaborator::new(Config::default()));
        Session { engine, elaborator, script: PythonFile::new("k.py", text) }
    }

    fn analyse(&mut self) -> Analysis {
        let made = self.elaborator.elaborate(&self.script, &NoSources, &Cancel::never()).expect("nobody cancels");
        self.engine.analyse_python(&Arc::new(made), &NoSources, &Cancel::never()).expect("nobody cancels")
    }

    fn edit(&mut self, from: &str, to: &str) -> Analysis {
        assert!(self.script.text().contains(from));
        self.script = self.script.with_text(self.script.text().replacen(from, to, 1));
        self.analyse()
    }
}

/// Where the first finding stands, as text.
fn place<'t>(analysis: &Analysis, text: &'t str) -> &'t str {
    analysis.kernels[0].findings[0].range.of(text)
}

#[test]
fn an_edit_elaborates_what_it_touches() {
    let mut session = Session::new(TEXT);
    let first = session.analyse();
    assert_eq!(session.elaborator.elaborations(), 1);
    assert!(place(&first, TEXT).starts_with("mbarrier.wait("), "{:?}", first.kernels);
    let explorations = session.engine.explorations();
    let moved = session.edit("return 1", "return 12345");
    assert_eq!(session.elaborator.elaborations(), 1);
    assert_eq!(place(&moved, session.script.text()), place(&first, TEXT));
    assert_eq!(moved.kernels[0].findings[0].message, first.kernels[0].findings[0].message);
    // A comment makes no other kernel.
    session.edit("    mbarrier.init(ready", "    # one arrival\n    mbarrier.init(ready");
    assert_eq!(session.elaborator.elaborations(), 1);
    assert_eq!(session.engine.explorations(), explorations);
    // What a file says outside of functions can change any kernel.
    session.edit("def unrelated", "DEPTH = 2\n\n\ndef unrelated");
    assert_eq!(session.elaborator.elaborations(), 2);
}

#[test]
fn a_fix_is_one_that_helps() {
    let mut session = Session::new(TEXT);
    let found = session.analyse();
    let elaboration = found.gluon.clone().expect("it is Python");
    let report = &found.kernels[0];
    let cancel = Cancel::never();
    let fix = session
        .engine
        .fix_python(&elaboration, 0, &report.findings[0], &NoSources, &cancel)
        .expect("nobody cancels")
        .expect("the other phase helps");
    assert_eq!((fix.edits[0].range.of(TEXT), fix.edits[0].text.as_str()), ("1", "0"));
    let fixed = session.edit("mbarrier.wait(ready, 1)", "mbarrier.wait(ready, 0)");
    assert!(matches!(fixed.kernels[0].verdict, Verdict::Proved(_)), "{:?}", fixed.kernels[0]);
}

#[test]
fn a_torn_kernel_is_neither_clean_nor_current() {
    let mut session = Session::new(TEXT);
    session.analyse();
    let torn = session.edit("mbarrier.wait(ready, 1)", "mbarrier.wait(ready, (");
    assert!(matches!(torn.kernels[0].verdict, Verdict::Undecided(_)), "{:?}", torn.kernels[0]);
    assert!(torn.kernels[0].broken && torn.kernels[0].findings.is_empty());
    // Nothing was elaborated for it, nor will be when it is whole again.
    assert_eq!(session.elaborator.elaborations(), 1);
    session.edit("mbarrier.wait(ready, (", "mbarrier.wait(ready, 1)");
    assert_eq!(session.elaborator.elaborations(), 1);
    session.edit("mbarrier.wait(ready, 1)", "mbarrier.wait(ready, (");
    assert_eq!(torn.problems.len(), 1);
    let fresh = Session::new(session.script.text()).analyse();
    assert!(fresh.kernels.iter().all(|kernel| matches!(kernel.verdict, Verdict::Undecided(_))), "{:?}", fresh.kernels);
}

const HELPER: &str = "\
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, tma


@gluon.jit
def fill(tile, regs: gl.constexpr):
    tile.store(gl.full([64, 64], 1.0, gl.float16, regs))


# fencepost: y_desc=fp16[64,64], steps=i32, num_warps=4, num_ctas=1, target=sm_90
@gluon.jit
def send(y_desc, steps):
    regs: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    tile = gl.allocate_shared_memory(y_desc.dtype, y_desc.block_shape, y_desc.layout)
    for i in range(steps):
        fill(tile, regs)
        fence_async_shared()
        tma.async_store(y_desc, [i * 64, 0], tile)
    tma.store_wait(0)
";

#[test]
fn what_is_missing_before_a_call_is_drawn_and_mended() {
    let mut session = Session::new(HELPER);
    let found = session.analyse();
    let finding = &found.kernels[0].findings[0];
    assert_eq!(place(&found, HELPER), "fill(tile, regs)");
    let [first, second, call] = finding.sites.as_slice() else { panic!("{finding:?}") };
    assert!(first.range.of(HELPER).starts_with("tma.async_store("), "{finding:?}");
    assert!(second.range.of(HELPER).starts_with("tile.store("), "{finding:?}");
    assert!(call.primary && !first.primary && !second.primary);
    let elaboration = found.gluon.clone().expect("it is Python");
    let fix = session.engine.fix_python(&elaboration, 0, finding, &NoSources, &Cancel::never());
    let fix = fix.expect("nobody cancels").expect("a wait helps");
    assert_eq!(fix.edits[0].text, "        tma.store_wait(0)\n", "{fix:?}");
    let fixed = session.edit("        fill(", "        tma.store_wait(0)\n        fill(");
    assert!(matches!(fixed.kernels[0].verdict, Verdict::Proved(_)), "{:?}", fixed.kernels[0]);
}

#[test]
fn a_finding_that_moves_says_what_a_new_analysis_says() {
    let mut session = Session::new(HELPER);
    session.analyse();
    let moved = session.edit("fill(tile, regs)\n        fence", "fill( tile, regs )\n        fence");
    let fresh = Session::new(session.script.text()).analyse();
    assert!(fresh.kernels[0].findings[0].order.is_some());
    assert_eq!(moved.kernels, fresh.kernels);
}

#[test]
fn instances_with_tiles_of_other_sizes_share_a_proof() {
    let larger = "# fencepost: y_desc=fp16[128,64], steps=i32, num_warps=4, num_ctas=1, target=sm_90\n";
    let text = HELPER
        .replace("[64, 64], 1.0", "tile.shape, 1.0")
        .replace("        fill(", "        tma.store_wait(0)\n        fill(");
    let mut session = Session::new(&text.replace("# fencepost: ", &format!("{larger}# fencepost: ")));
    let found = session.analyse();
    assert!(matches!(found.kernels[0].verdict, Verdict::Proved(_)), "{:?}", found.kernels[0]);
    let elaboration = found.gluon.expect("it is Python");
    let mut proofs = Vec::new();
    for elaborated in &elaboration.kernels[0].instances {
        let kernel = &elaborated.lowered().expect("it is lowered").kernel;
        let outcome = session.engine.outcome(kernel, &Cancel::never()).expect("nobody cancels");
        proofs.push(outcome.proof.expect("it is proved").of);
        assert_eq!(elaborated.shared_proof(&session.engine.limits), proofs.last().copied());
    }
    assert!(matches!(proofs.as_slice(), [one, other] if one == other), "{proofs:?}");
    assert_ne!(
        elaboration.kernels[0].instances[0].lowered().expect("it is lowered").kernel,
        elaboration.kernels[0].instances[1].lowered().expect("it is lowered").kernel
    );
}
