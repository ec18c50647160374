//! A ring of buffers of any size, as a kernel without a frontend: what benchmarks measure growth on.
//!
//! In each CTA one partition copies tiles into the slots of a ring and others read every slot.
//! With several CTAs the copy is a multicast that CTA 0 issues once the readers of all of them
//! have handed the slot back to it; each CTA announces its bytes once its own readers have. Loops may be nested; their trip counts are inputs.

use kernel::{Kernel, text};
use std::fmt::Write;

/// The size of a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    /// Partitions that read every slot.
    pub consumers: u32,
    /// CTAs, a power of two.
    pub ctas: u32,
    /// Slots.
    pub depth: u32,
    /// Loops inside one another, from 1.
    pub nesting: u32,
}

/// The smallest ring.
pub const ONE: Ring = Ring { consumers: 1, ctas: 1, depth: 1, nesting: 1 };

/// Bits of a slot.
const SLOT: u32 = 4096 * 8;

impl Ring {
    /// The ring as a kernel.
    ///
    /// # Panics
    /// Where the text that this writes is no kernel, which is a defect here.
    pub fn kernel(self) -> Kernel {
        let text = self.text();
        match text::parse(&text) {
            Ok(lowered) => lowered.kernel,
            Err(error) => panic!("{error}\n{text}"),
        }
    }

    /// The ring in the text form of a kernel.
    pub fn text(self) -> String {
        let mut out = String::new();
        // Writing to a `String` cannot fail.
        let _ = self.head(&mut out);
        for thread in 0..=self.consumers {
            let _ = self.partition(&mut out, thread);
        }
        let _ = self.loops(&mut out);
        out
    }

    fn head(self, out: &mut String) -> std::fmt::Result {
        let Ring { consumers, ctas, depth, nesting } = self;
        let others = ctas - 1;
        writeln!(out, "kernel ctas={ctas} entry=b0")?;
        for _ in 0..=consumers + 1 {
            writeln!(out, "partition warps=4")?;
        }
        writeln!(out, "buffer $data shared bits={} slot={SLOT}", depth * SLOT)?;
        writeln!(out, "buffer $full shared bits={} slot=64 barriers", depth * 64)?;
        writeln!(out, "buffer $empty shared bits={} slot=64 barriers", depth * 64)?;
        writeln!(out, "buffer $own shared bits={} slot=64 barriers", depth * 64)?;
        writeln!(out, "shape sall element=16 dims={depth}:{SLOT},2048:16\nshape sone element=16 dims=2048:16")?;
        writeln!(out, "shape sbars element=64 dims={depth}:64\nshape sbar element=64 dims=1:64")?;
        for level in 0..nesting {
            writeln!(out, "input i{level} argument {level} width=32 divisor=1")?;
        }
        writeln!(
            out,
            "block b0()\n  %data:sall = base $data\n  %full:sbars = base $full\n  %empty:sbars = base $empty\n  %own:sbars = base $own"
        )?;
        writeln!(out, "  %zero = const 0\n  %one = const 1\n  %depth = const {depth}")?;
        for level in 0..nesting {
            writeln!(out, "  %n{level} = input i{level}")?;
        }
        for at in 0..depth {
            writeln!(out, "  %s{at} = const {at}")?;
            writeln!(out, "  %f{at}:sbar = index %full at=%s{at} stride=64 count={depth}")?;
            writeln!(out, "  %e{at}:sbar = index %empty at=%s{at} stride=64 count={depth}")?;
            writeln!(out, "  init %f{at} count=1\n  init %e{at} count={} leaders={others}", consumers * ctas)?;
            if others > 0 {
                writeln!(out, "  %o{at}:sbar = index %own at=%s{at} stride=64 count={depth}")?;
                writeln!(out, "  init %o{at} count={consumers}")?;
            }
        }
        if others > 0 {
            writeln!(out, "  @102 cluster_arrive\n  @102 cluster_wait")?;
        }
        let forks: String =
            (0..=consumers).map(|thread| format!(" {}:p{thread}h0(%zero, %zero)", thread + 1)).collect();
        writeln!(out, "  @100 fork bmain(){forks}\nblock bmain()\n  @100 join bend()\nblock bend()\n  @101 return")
    }

    fn partition(self, out: &mut String, thread: u32) -> std::fmt::Result {
        let last = self.nesting - 1;
        for level in 0..=last {
            let p = format!("p{thread}");
            writeln!(out, "block {p}h{level}(%{p}i{level}, %{p}c{level})")?;
            writeln!(out, "  %{p}more{level} = cmp slt w32 %{p}i{level} %n{level}")?;
            writeln!(out, "  branch %{p}more{level} {p}b{level}() {p}x{level}()\nblock {p}b{level}()")?;
            if level < last {
                writeln!(out, "  jump {p}h{}(%zero, %{p}c{level})", level + 1)?;
            } else {
                self.body(out, &p, level, thread == 0)?;
            }
            writeln!(out, "block {p}x{level}()")?;
            match level.checked_sub(1) {
                None => writeln!(out, "  exit")?,
                Some(outer) => {
                    writeln!(out, "  %{p}up{level} = add w32 %{p}i{outer} %one")?;
                    writeln!(out, "  jump {p}h{outer}(%{p}up{level}, %{p}c{level})")?;
                }
            }
        }
        Ok(())
    }

    fn body(self, out: &mut String, p: &str, level: u32, producer: bool) -> std::fmt::Result {
        let Ring { ctas, depth, .. } = self;
        let others = ctas - 1;
        writeln!(out, "  %{p}slot = rem_s w32 %{p}c{level} %depth\n  %{p}round = div_s w32 %{p}c{level} %depth")?;
        writeln!(out, "  %{p}full:sbar = index %full at=%{p}slot stride=64 count={depth}")?;
        writeln!(out, "  %{p}empty:sbar = index %empty at=%{p}slot stride=64 count={depth}")?;
        writeln!(out, "  %{p}data:sone = index %data at=%{p}slot stride={SLOT} count={depth}")?;
        if others > 0 {
            writeln!(out, "  %{p}own:sbar = index %own at=%{p}slot stride=64 count={depth}")?;
        }
        if producer {
            let copy = format!(
                "op tma -=write:async:%{p}data:ctas={others}:{others} \
                 transaction [%{p}full count=0 bytes=4096 to={others}:{others}] leaders={others}"
            );
            writeln!(out, "  %{p}next = add w32 %{p}round %one\n  %{p}phase = and w32 %{p}next %one")?;
            let (expect, all) =
                (format!("  expect %{p}full bytes=4096"), format!("  wait %{p}empty phase=%{p}phase leaders={others}"));
            if others > 0 {
                writeln!(out, "  wait %{p}own phase=%{p}phase\n{expect}\n{all}\n  {copy}")?;
            } else {
                writeln!(out, "{all}\n{expect}\n  {copy}")?;
            }
        } else {
            writeln!(out, "  %{p}phase = and w32 %{p}round %one\n  wait %{p}full phase=%{p}phase")?;
            writeln!(out, "  op base -=read:generic:%{p}data in_order\n  proxy_fence")?;
            writeln!(out, "  arrive %{p}empty count=1 to={others}:0")?;
            if others > 0 {
                writeln!(out, "  arrive %{p}own count=1")?;
            }
        }
        writeln!(out, "  %{p}inext = add w32 %{p}i{level} %one\n  %{p}cnext = add w32 %{p}c{level} %one")?;
        writeln!(out, "  jump {p}h{level}(%{p}inext, %{p}cnext)")
    }

    fn loops(self, out: &mut String) -> std::fmt::Result {
        for thread in 0..=self.consumers {
            for level in 0..self.nesting {
                let parent = match level.checked_sub(1) {
                    None => String::new(),
                    Some(outer) => format!(" parent=p{thread}l{outer}"),
                };
                let site = 200 + thread * self.nesting + level;
                let (p, bounds) = (format!("p{thread}"), format!("%zero,%n{level},%one"));
                writeln!(out, "loop {p}l{level} @{site} head={p}h{level} counted=%{p}i{level},{bounds}{parent}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Cancel, Limits};
    use verify::decide;

    #[test]
    fn rings_of_all_sizes_are_right() {
        for ring in [
            ONE,
            Ring { depth: 3, ..ONE },
            Ring { consumers: 3, ..ONE },
            Ring { ctas: 4, consumers: 2, ..ONE },
            Ring { nesting: 3, ..ONE },
        ] {
            let outcome = decide(&ring.kernel(), &Limits::default(), &Cancel::never());
            let Ok(outcome) = outcome else { panic!("nobody cancels") };
            assert!(outcome.found.is_empty() && outcome.gaps.is_empty(), "{ring:?}: {:?}", outcome.gaps);
        }
    }
}
