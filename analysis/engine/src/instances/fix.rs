//! Fixes of Python kernels: edits of the file that were elaborated and decided again.
//!
//! A candidate passes where the finding is gone and nothing is new, neither in the instance that it is for
//! nor in any other instance or kernel of the file that runs what it touches. They are sought when somebody
//! asks: each candidate is a whole elaboration.

use std::sync::Arc;

use super::blame::cause;
use super::outline::Outline;
use super::{ElaboratedInstance, Elaboration, KernelInstances, fixes};
use crate::Engine;
use crate::limits::python_fixes::{STEPS, TRIES};
use ::fixes::gluon::{PythonContext, candidates};
use ::fixes::{Baseline, EditedKernel, FindingKey, cuts_run_short, moved, told_as};
use base::{Cancel, Cancelled, Fragment, Message, Names};
use findings::{Edit, Finding, Fix, Kind, describe, describe_violation};
use gluon::{FileId, elaborate};
use kernel::Lowered;
use python::syntax::{Module, Sources};
use specialize::Instance;
use verify::Outcome;

impl Engine {
    /// A change of the Python with which a finding on the kernel of this number is gone and nothing is new;
    /// `None` where no candidate is such a change. `sources` are those of the elaboration.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn fix_python(
        &mut self,
        of: &Elaboration,
        kernel: usize,
        finding: &Finding,
        sources: &dyn Sources,
        cancel: &Cancel<'_>,
    ) -> Result<Option<Fix>, Cancelled> {
        let kernel = of.kernels.get(kernel);
        let Some((kernel, elaborated)) =
            kernel.and_then(|kernel| Some((kernel, kernel.instances.get(finding.instance)?)))
        else {
            return Ok(None);
        };
        let (Some(lowered), Some(tree)) = (elaborated.lowered(), elaborated.tree()) else { return Ok(None) };
        // What was not followed, and texts that do not parse, cannot be told from a repair.
        let refused = elaborated.problems().iter().any(|problem| !problem.hint);
        if !of.module.broken().is_empty() || refused || !tree.errors().is_empty() {
            return Ok(None);
        }
        let outcome = self.outcome(&lowered.kernel, cancel)?;
        let report = self.describe_kernel(lowered, cancel)?;
        let target = outcome.found.iter().find_map(|found| {
            let mut told = describe_violation(lowered, found)?;
            let same = told_as(&report.findings, &told).and_then(|at| report.findings.get(at));
            let range = same.map_or(told.range, |same| same.range);
            let drawn = same.map_or_else(|| elaborated.drawn(&told), |same| elaborated.drawn(same));
            if (told.kind, drawn) != (finding.kind, finding.range) {
                return None;
            }
            told.phases = same.map(|same| same.phases.clone()).unwrap_or_default();
            let named = named(same.map_or(&told.message, |same| &same.message), &**elaborated);
            Some((found, told, named, range))
        });
        let Some((found, told, named, range)) = target else { return Ok(None) };
        let start = |range| elaborated.place(range).range.start;
        let goal = FindingKey { at: start(range), ..FindingKey::new(&told, start) };
        let origin = |offset| elaborated.origins().at(offset).filter(|o| o.file == FileId(0)).map(|o| o.range);
        let way = PythonContext {
            module: &of.module,
            variable: &|name| elaborated.variable(name),
            origin: &origin,
            target: elaborated.instance.spec.target.0,
            version: elaborated.instance.spec.version,
        };
        let before = baseline(elaborated, lowered, &outcome);
        let mut tries = TRIES;
        let spent = self.retried();
        let mut best: Option<(Fix, usize)> = None;
        let (ours, plain) = (
            candidates(tree, lowered, found, &told, &way)
                .into_iter()
                .map(|fix| fix.render(&**elaborated))
                .collect::<Vec<_>>(),
            fixes::candidates(&of.module, finding, &named),
        );
        // Bytes read better as what they are the bytes of, and what is missing before a call belongs there.
        let here = finding.kind == Kind::ExpectMismatch || cause(finding).is_some();
        let (first, then) = if here { (plain, ours) } else { (ours, plain) };
        for fix in first.into_iter().chain(then) {
            cancel.check()?;
            if tries == 0 || self.retried() - spent >= STEPS {
                break;
            }
            tries -= 1;
            let Some(module) = edited(&of.module, &fix.edits) else { continue };
            let Some(left) = self.after(&before, elaborated, &module, sources, &fix.edits, Some(goal), cancel)? else {
                continue;
            };
            if best.as_ref().is_some_and(|(_, least)| *least <= left.len())
                || left.iter().any(|left| cuts_run_short(left.kind))
            {
                continue;
            }
            if self.elsewhere(of, kernel, elaborated, &module, sources, &fix.edits, &mut tries, cancel)? {
                let done = left.is_empty();
                best = Some((fix, left.len()));
                if done {
                    break;
                }
            }
        }
        Ok(best.map(|(fix, _)| fix))
    }

    /// Whether nothing is new in the other instances of the file that run what the edits touch.
    #[allow(clippy::too_many_arguments, reason = "the state of one search")]
    fn elsewhere(
        &mut self,
        of: &Elaboration,
        own: &KernelInstances,
        done: &Arc<ElaboratedInstance>,
        module: &Arc<Module>,
        sources: &dyn Sources,
        edits: &[Edit],
        tries: &mut usize,
        cancel: &Cancel<'_>,
    ) -> Result<bool, Cancelled> {
        let touched = |elaborated: &ElaboratedInstance| {
            let own = elaborated.touched().iter().filter(|(file, _)| *file == FileId(0));
            let mut ranges = own.map(|(_, range)| *range);
            ranges
                .any(|range| edits.iter().any(|edit| range.start <= edit.range.start && edit.range.start <= range.end))
        };
        let others =
            of.kernels.iter().flat_map(|kernel| kernel.instances.iter().map(move |elaborated| (kernel, elaborated)));
        for (kernel, elaborated) in others.filter(|(_, elaborated)| !Arc::ptr_eq(elaborated, done)) {
            if !(touched(elaborated) || std::ptr::eq(kernel, own)) {
                continue;
            }
            let Some(lowered) = elaborated.lowered() else { continue };
            if *tries == 0 {
                return Ok(false);
            }
            *tries -= 1;
            let outcome = self.outcome(&lowered.kernel, cancel)?;
            let before = baseline(elaborated, lowered, &outcome);
            if self.after(&before, elaborated, module, sources, edits, None, cancel)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What an edited file leaves wrong with an instance, in places of the file before; `None` where `goal`
    /// stays or anything is new.
    #[allow(clippy::too_many_arguments, reason = "the state of one search")]
    fn after(
        &mut self,
        before: &Baseline<'_>,
        elaborated: &ElaboratedInstance,
        module: &Arc<Module>,
        sources: &dyn Sources,
        edits: &[Edit],
        goal: Option<FindingKey>,
        cancel: &Cancel<'_>,
    ) -> Result<Option<Vec<FindingKey>>, Cancelled> {
        let mut spec = elaborated.instance.spec.clone();
        spec.def = moved(spec.def, edits);
        if let Some(host) = spec.host.as_mut().filter(|host| host.file.is_none()) {
            host.def = moved(host.def, edits);
        }
        let made = elaborate(module, sources, &spec, cancel)?;
        // As in `judge`: nothing made without a file that was no longer waited for is kept.
        cancel.check()?;
        let (name, instance) = (made.name, Instance { spec, ..elaborated.instance.clone() });
        let text = (module.clone(), Arc::new(Outline::of(module)));
        let now = ElaboratedInstance::new(text, sources, instance, name, made, &[]);
        let refused = |of: &ElaboratedInstance| of.problems().iter().filter(|problem| !problem.hint).count();
        let (Some(lowered), Some(tree)) = (now.lowered(), now.tree()) else { return Ok(None) };
        if now.unmodelled().len() > elaborated.unmodelled().len()
            || refused(&now) > refused(elaborated)
            || !tree.errors().is_empty()
        {
            return Ok(None);
        }
        let start = |range| now.place(range).range.start;
        let kernel = EditedKernel { lowered, edits, start: &start, first: None };
        before.after(&kernel, goal, &mut self.retry(cancel))
    }
}

/// An instance before any edit, with its findings in the file.
fn baseline<'a>(elaborated: &ElaboratedInstance, lowered: &'a Lowered, outcome: &Outcome) -> Baseline<'a> {
    let findings = describe(lowered, outcome).findings;
    Baseline::new(lowered, outcome, &findings, |range| elaborated.place(range).range.start)
}

/// The ops and values that a message names, as Python calls them.
fn named(message: &Message, names: &dyn Names) -> Vec<String> {
    let name = |fragment: &Fragment| match fragment {
        Fragment::Op(op) => Some(names.op(op).into_owned()),
        Fragment::Value(value) => Some(names.value(value).into_owned()),
        _ => None,
    };
    message.fragments().iter().filter_map(name).collect()
}

/// The file with edits applied; `None` where it does not parse then.
fn edited(module: &Arc<Module>, edits: &[Edit]) -> Option<Arc<Module>> {
    let text = ::fixes::apply(module.text(), edits)?;
    let module = Module::parse(module.path(), text, None);
    module.broken().is_empty().then(|| Arc::new(module))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instances::{Elaborator, PythonFile};
    use base::Limits;
    use findings::Severity;
    use python::syntax::NoSources;

    const HEAD: &str = "\
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma


@gluon.jit
def load(desc, ring, ready, free, steps):
    depth: gl.constexpr = ring.shape[0]
    for i in range(steps):
        slot = i % depth
        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)
        mbarrier.expect(ready.index(slot), desc.nbytes_per_cta)
        tma.async_load(desc, [i, 0], ready.index(slot), ring.index(slot))


@gluon.jit
def use(ring, ready, free, steps):
    depth: gl.constexpr = ring.shape[0]
    tile: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [4, 1], [1, 0])
    for i in range(steps):
        slot = i % depth
        mbarrier.wait(ready.index(slot), (i // depth) & 1)
        value = ring.index(slot).load(tile)
        ring.index(slot).store(value + value)
        fence_async_shared()
        mbarrier.arrive(free.index(slot), count=1)


# fencepost: desc=fp32[64,128], steps=i32, depth=2, target=sm_90
@gluon.jit
def kernel(desc, steps, depth: gl.constexpr):
    ring = gl.allocate_shared_memory(desc.dtype, [depth] + desc.block_shape, desc.layout)
    ready = mbarrier.allocate_mbarrier(batch=depth)
    free = mbarrier.allocate_mbarrier(batch=depth)
    for s in gl.static_range(depth):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(free.index(s), count=1)
    gl.warp_specialize([
        (use, (ring, ready, free, steps)),
        (load, (desc, ring, ready, free, steps)),
    ], [1], [24])
";

    /// The findings of a text, each with its fix.
    fn fixed(text: &str) -> Vec<(Kind, Option<Fix>)> {
        let (mut engine, cancel) = (Engine::new(Limits::default()), Cancel::never());
        let script = PythonFile::new("kernel.py", text);
        let Ok(of) = Elaborator::default().elaborate(&script, &NoSources, &cancel) else { return Vec::new() };
        let of = Arc::new(of);
        let Ok(analysis) = engine.analyse_python(&of, &NoSources, &cancel) else { return Vec::new() };
        let mut out = Vec::new();
        for (at, report) in analysis.kernels.iter().enumerate() {
            for finding in report.findings.iter().filter(|finding| finding.severity <= Severity::Warning) {
                let fix = engine.fix_python(&of, at, finding, &NoSources, &cancel).unwrap_or_default();
                out.push((finding.kind, fix));
            }
        }
        assert!(
            analysis.problems.iter().all(|problem| problem.severity > Severity::Warning),
            "{:?}",
            analysis.problems
        );
        out
    }

    #[test]
    fn the_ring_is_right_as_it_is() {
        assert_eq!(fixed(HEAD), []);
    }

    /// What is broken, how, and what some fix of it writes.
    const BROKEN: &[(&str, &str, &str)] = &[
        ("        fence_async_shared()\n", "", "fence_async_shared()"),
        ("((i // depth) & 1) ^ 1", "(i // depth) & 1", "^ 1"),
        ("mbarrier.wait(ready.index(slot), (i // depth) & 1)", "mbarrier.wait(ready.index(slot), i & 1)", "//"),
        ("        mbarrier.wait(ready.index(slot), (i // depth) & 1)\n", "", "mbarrier.wait(ready.index(slot)"),
        ("        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n", "", "mbarrier.wait(free.index(slot)"),
        ("        mbarrier.arrive(free.index(slot), count=1)\n", "", "mbarrier.arrive(free.index(slot)"),
        ("        mbarrier.init(free.index(s), count=1)\n", "        mbarrier.init(free.index(s), count=2)\n", "1"),
        ("expect(ready.index(slot), desc.nbytes_per_cta)", "expect(ready.index(slot), 16)", "desc.nbytes_per_cta"),
        ("        mbarrier.init(free.index(s), count=1)\n", "", "mbarrier.init(free.index("),
    ];

    /// A ring whose tiles two partitions read, where the phase that frees a slot counts `count` arrivals.
    fn read_by_two(count: u32) -> String {
        let text = HEAD.replace("init(free.index(s), count=1)", &format!("init(free.index(s), count={count})"));
        let text = text.replace(
            "        ring.index(slot).store(value + value)\n",
            "        gl.store(out + i, gl.sum(gl.sum(value, 1), 0))\n",
        );
        let text =
            text.replace("use(ring,", "use(out, ring,").replace("desc, steps, depth:", "desc, out, steps, depth:");
        let text = text.replace("# fencepost: desc", "# fencepost: out=*fp32, desc");
        let both = "        (use, (out, ring, ready, free, steps)),\n";
        text.replace("        (use, (ring, ready, free, steps)),\n", both).replace(
            "        (load, (desc, ring, ready, free, steps)),\n    ], [1], [24])",
            &format!("        (load, (desc, ring, ready, free, steps)),\n{both}    ], [1, 4], [24, 64])"),
        )
    }

    #[test]
    fn a_count_that_leaves_out_a_partition_is_raised() {
        assert_eq!(fixed(&read_by_two(2)), []);
        let text = read_by_two(1);
        let found = fixed(&text);
        let mended: Vec<Option<String>> =
            found.iter().filter_map(|(_, fix)| fix.as_ref()).map(|fix| ::fixes::apply(&text, &fix.edits)).collect();
        assert!(!mended.is_empty() && mended.iter().all(|it| *it == Some(read_by_two(2))), "{found:#?}");
    }

    #[test]
    fn a_count_of_more_partitions_than_arrive_is_lowered() {
        let text = read_by_two(3);
        let found = fixed(&text);
        let fix = found.iter().find_map(|(_, fix)| fix.as_ref());
        let mended = fix.and_then(|fix| ::fixes::apply(&text, &fix.edits));
        assert_eq!(mended, Some(read_by_two(2)), "{found:#?}");
    }

    /// A function that the file does not import is that of the target's module.
    #[test]
    fn what_is_inserted_is_spelt_for_the_target() {
        let text = HEAD.replace("import fence_async_shared, mbarrier", "import mbarrier");
        let text = text.replace("        fence_async_shared()\n", "");
        for (target, written) in [("sm_90", "gl.nvidia.hopper.fence"), ("sm_100", "gl.nvidia.blackwell.fence")] {
            let found = fixed(&text.replace("target=sm_90", &format!("target={target}")));
            let mut edits = found.iter().filter_map(|(_, fix)| fix.as_ref()).flat_map(|fix| &fix.edits);
            assert!(edits.any(|edit| edit.text.contains(written)), "{target}: {found:#?}");
        }
    }

    const PAIRS: &str = "\
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma


# fencepost: desc=fp32[64,64], steps=i32, target=sm_90
@gluon.jit
def pairs(desc, steps):
    tile: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    both = gl.allocate_shared_memory(gl.float32, [2, 64, 64], desc.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    for i in range(steps):
        for half in gl.static_range(2):
            mbarrier.expect(bar, desc.nbytes_per_cta)
            tma.async_load(desc, [i * 128 + half * 64, 0], bar, both.index(half))
        mbarrier.wait(bar, i & 1)
        gl.barrier()
";

    /// A wait for a phase that is over before it begins would end, and wait for nothing.
    #[test]
    fn phases_that_a_thread_completes_itself_are_counted() {
        let found = fixed(PAIRS);
        let edits: Vec<&Edit> = found.iter().filter_map(|(_, fix)| fix.as_ref()).flat_map(|fix| &fix.edits).collect();
        assert!(!found.is_empty() && edits.iter().all(|edit| edit.text == "2"), "{found:#?}");
    }

    const SUM: &str = "\
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout, allocate_tensor_memory, mbarrier, tcgen05_mma)


# fencepost: a_layout=gl.NVMMASharedLayout(128, 16), steps=i32, target=sm_100
@gluon.jit
def product(steps, a_layout: gl.constexpr):
    regs: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    a = gl.allocate_shared_memory(gl.float16, [128, 64], a_layout, gl.zeros([128, 64], gl.float16, regs))
    b = gl.allocate_shared_memory(gl.float16, [64, 128], a_layout, gl.zeros([64, 128], gl.float16, regs))
    acc = allocate_tensor_memory(gl.float32, [128, 128], TensorMemoryLayout([128, 128], col_stride=1))
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    gl.nvidia.blackwell.fence_async_shared()
    left = steps
    phase = 0
    while left > 0:
        tcgen05_mma(a, b, acc, use_acc=True, mbarriers=[bar])
        mbarrier.wait(bar, phase)
        phase ^= 1
        left -= 1
";

    #[test]
    fn a_sum_is_not_dropped() {
        let found = fixed(SUM);
        assert!(found.iter().any(|(kind, _)| *kind == Kind::UninitialisedRead), "{found:#?}");
        assert!(found.iter().all(|(_, fix)| fix.is_none()), "{found:#?}");
    }

    #[test]
    fn what_is_broken_is_mended_in_python() {
        let mut without = Vec::new();
        for (part, with, written) in BROKEN {
            let text = HEAD.replacen(part, with, 1);
            assert_ne!(text, HEAD, "{part}");
            let found = fixed(&text);
            assert!(!found.is_empty(), "{part}: nothing is found");
            let fixes = || found.iter().filter_map(|(_, fix)| fix.as_ref());
            if !fixes().any(|fix| fix.edits.iter().any(|edit| edit.text.contains(written))) {
                without.push(format!("{part:?}: {found:#?}"));
            }
            for fix in fixes() {
                let mended = ::fixes::apply(&text, &fix.edits).unwrap_or_default();
                let left = fixed(&mended);
                assert!(left.len() < found.len(), "{part}: {fix:?} leaves {left:?}");
            }
        }
        assert!(without.is_empty(), "{}", without.join("\n"));
    }
}
