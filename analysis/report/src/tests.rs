//! What orders a pair, on kernels without a frontend: the last link of a chain, the arrival that says
//! it, what is not ordered at all, and waits that say nothing new.

use super::order::ordering_facts;
use super::ordering_facts::OrderingFacts;
use super::pairs::{BarrierArray, OrderedBy, SyncLink};
use base::{Cancel, Limits};
use kernel::text::parse;
use kernel::{BufferId, EffectKind, Kernel, Mode};
use verify::decide;

const DATA: &str = "buffer $data shared bits=64 slot=64\nbuffer $full shared bits=64 slot=64 barriers\nbuffer \
                    $empty shared bits=64 slot=64 barriers\nshape s0 element=64 dims=1:64\n";
const FULL: BarrierArray = BarrierArray::Barriers(BufferId(1));
const EMPTY: BarrierArray = BarrierArray::Barriers(BufferId(2));

/// A producer (the default partition) and a consumer of one slot, four rounds; `produce` and `consume`
/// stand in their loops, where `%p` is the round's parity and `%q` the other one.
fn ring(produce: &str, consume: &str) -> Kernel {
    let text = format!(
        "kernel ctas=1\npartition warps=4\npartition warps=1\n{DATA}block b0()\n  %d:s0 = base $data\n  %f:s0 = base \
         $full\n  %e:s0 = base $empty\n  %zero = const 0\n  %one = const 1\n  %four = const 4\n  init %f count=1\n  init %e \
         count=1\n  fork b1(%zero) 1:b4(%zero)\nblock b1(%i)\n  %more = cmp slt w32 %i %four\n  branch %more b2() \
         b3()\nblock b2()\n  %p = and w32 %i %one\n  %q = xor w32 %p %one\n{produce}  %next = add w32 %i %one\n  jump \
         b1(%next)\nblock b3()\n  join b7()\nblock b4(%j)\n  %go = cmp slt w32 %j %four\n  branch %go b5() b6()\nblock \
         b5()\n  %r = and w32 %j %one\n  %s = xor w32 %r %one\n{consume}  %then = add w32 %j %one\n  jump b4(%then)\nblock \
         b6()\n  exit\nblock b7()\n  return\n"
    );
    parse(&text).unwrap_or_else(|error| panic!("{error}")).kernel
}

const WRITE: &str = "  op base -=write:generic:%d in_order\n";
const READ: &str = "  op base -=read:generic:%d in_order\n";

fn sum(kernel: &Kernel) -> OrderingFacts {
    let limits = Limits::default();
    let outcome = decide(kernel, &limits, &Cancel::never()).unwrap_or_else(|_| panic!("nobody cancels"));
    ordering_facts(kernel, &outcome, &limits, &Cancel::never()).unwrap_or_else(|_| panic!("nobody cancels")).0
}

/// What orders the pairs of these modes: barrier, from, to; `None` where nothing does.
fn orders(ordering_facts: &OrderingFacts, earlier: Mode, later: Mode) -> Vec<Option<(Option<BarrierArray>, u16, u16)>> {
    let pairs = ordering_facts.pairs().iter().filter(|(pair, met)| {
        (pair.earlier.mode, pair.later.mode) == (earlier, later)
            && pair.earlier.partition != pair.later.partition
            && met.near > 0
    });
    let mut all: Vec<_> = pairs
        .map(|(pair, _)| match pair.how {
            OrderedBy::Sync(SyncLink { array, from, to, .. }) => Some((array, from, to)),
            _ => None,
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn a_ring_is_ordered_both_ways() {
    let kernel = ring(
        &format!("  wait %e phase=%q\n{WRITE}  arrive %f count=1\n"),
        &format!("  wait %f phase=%r\n{READ}  arrive %e count=1\n"),
    );
    let ordering_facts = sum(&kernel);
    assert_eq!(orders(&ordering_facts, Mode::Write, Mode::Read), [Some((Some(FULL), 0, 1))]);
    assert_eq!(orders(&ordering_facts, Mode::Read, Mode::Write), [Some((Some(EMPTY), 1, 0))]);
    assert_eq!((ordering_facts.complete, ordering_facts.cut), (1, 0));
    let waits = kernel.effects.iter().enumerate().filter(|(_, effect)| matches!(effect.kind, EffectKind::Wait { .. }));
    for (number, _) in waits {
        assert_eq!(ordering_facts.waits(kernel::EffectId(number as u32)).idle, 0);
    }
}

#[test]
fn without_the_way_back_nothing_orders_the_overwrite() {
    let kernel = ring(&format!("{WRITE}  arrive %f count=1\n"), &format!("  wait %f phase=%r\n{READ}"));
    let missing = |how: &OrderedBy| matches!(how, OrderedBy::Missing | OrderedBy::Unread);
    let ordering_facts = sum(&kernel);
    let own = ordering_facts
        .pairs()
        .iter()
        .filter(|(pair, _)| (pair.earlier.mode, pair.later.mode) == (Mode::Write, Mode::Write));
    let back = ordering_facts
        .pairs()
        .iter()
        .filter(|(pair, _)| (pair.earlier.mode, pair.later.mode) == (Mode::Read, Mode::Write));
    // Its own writes are in order; whoever reads in between is not.
    assert!(own.clone().count() > 0 && own.clone().all(|(pair, _)| pair.how == OrderedBy::Program));
    let racing = ordering_facts.pairs().iter().any(|(pair, _)| missing(&pair.how));
    assert!(back.clone().any(|(pair, _)| missing(&pair.how)) || racing, "{:?}", ordering_facts.pairs());
}

#[test]
fn a_second_wait_on_one_flip_says_nothing_new() {
    let kernel = ring(
        &format!("  wait %e phase=%q\n  wait %e phase=%q\n{WRITE}  arrive %f count=1\n"),
        &format!("  wait %f phase=%r\n{READ}  arrive %e count=1\n"),
    );
    let ordering_facts = sum(&kernel);
    let waits = kernel.effects.iter().enumerate().filter(|(_, effect)| matches!(effect.kind, EffectKind::Wait { .. }));
    let idle: Vec<(u32, u32)> = waits
        .map(|(number, _)| ordering_facts.waits(kernel::EffectId(number as u32)))
        .map(|waits| (waits.rounds - waits.free, waits.idle))
        .collect();
    assert_eq!(idle, [(3, 0), (3, 3), (4, 0)]);
    assert_eq!(ordering_facts.shared().len(), 1);
}

/// Waits on a barrier that is initialised anew are on other flips, and one that nothing has to precede counts as well.
#[test]
fn flips_are_counted_from_the_init_on() {
    let round =
        "  init %f count=1\n  wait %f phase=%one\n  arrive %f count=1\n  wait %f phase=%zero\n  invalidate %f\n";
    let text = format!(
        "kernel ctas=1\npartition warps=4\n{DATA}block b0()\n  %f:s0 = base $full\n  %zero = const 0\n  %one = const \
         1\n{round}{round}  return\n"
    );
    let kernel = parse(&text).unwrap_or_else(|error| panic!("{error}")).kernel;
    let ordering_facts = sum(&kernel);
    assert!(ordering_facts.shared().is_empty());
    assert_eq!(ordering_facts.traffic(FULL), [(2, 4)]);
}

#[test]
fn of_a_chain_the_last_link_is_told() {
    let text = format!(
        "kernel ctas=1\npartition warps=4\npartition warps=1\npartition warps=1\n{DATA}block b0()\n  %d:s0 = base $data\n  \
         %f:s0 = base $full\n  %e:s0 = base $empty\n  %zero = const 0\n  init %f count=1\n  init %e count=1\n  fork b1() \
         1:b2() 2:b3()\nblock b1()\n{WRITE}  arrive %f count=1\n  join b4()\nblock b2()\n  wait %f phase=%zero\n  arrive \
         %e count=1\n  exit\nblock b3()\n  wait %e phase=%zero\n{READ}  exit\nblock b4()\n  return\n"
    );
    let kernel = parse(&text).unwrap_or_else(|error| panic!("{error}")).kernel;
    assert_eq!(orders(&sum(&kernel), Mode::Write, Mode::Read), [Some((Some(EMPTY), 1, 2))]);
}
