//! Small random kernels: what the confluence check and the targeted schedules decide must be what
//! the naive explorer finds by visiting every schedule.

use base::{Cancel, Limits};
use explore::naive;
use kernel::text::parse;
use machine::{Machine, Valuation};
use std::fmt::Write;
use verify::decide;

/// A generator that gives the same kernels on every machine.
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

/// Two or three partitions with up to five random steps each on two barriers and two tiles.
fn kernel(random: &mut Random) -> String {
    let partitions = 1 + random.below(2);
    let mut out = String::from("kernel ctas=1 entry=b0\npartition warps=4\n");
    for _ in 0..partitions {
        out.push_str("partition warps=4\n");
    }
    let (x, y) = (1 + random.below(2), 1 + random.below(2));
    let _ = write!(
        out,
        "buffer $tile shared bits=64 slot=64
buffer $other shared bits=64 slot=64
buffer $x shared bits=64 slot=64 barriers
buffer $y shared bits=64 slot=64 barriers
shape s0 element=64 dims=1:64
block b0()
  %tile:s0 = base $tile
  %other:s0 = base $other
  %x:s0 = base $x
  %y:s0 = base $y
  %zero = const 0
  %one = const 1
  op base -=write:generic:%tile in_order
  op base -=write:generic:%other in_order
  init %x count={x}
  init %y count={y}
"
    );
    let starts: String = (1..=partitions).map(|number| format!(" {number}:p{number}()")).collect();
    let starts = starts.replace(":p", ":bp");
    let _ = write!(
        out,
        "  @90 fork bd(){starts}\nblock bd()\n{}  @90 join be()\nblock be()\n  @91 return\n",
        steps(random)
    );
    for number in 1..=partitions {
        let _ = write!(out, "block bp{number}()\n{}  @{} exit\n", steps(random), 91 + number);
    }
    out
}

fn steps(random: &mut Random) -> String {
    let mut out = String::new();
    for _ in 0..1 + random.below(5) {
        let barrier = ["%x", "%y"][random.below(2) as usize];
        let tile = ["%tile", "%other"][random.below(2) as usize];
        let phase = ["%zero", "%one"][random.below(2) as usize];
        let _ = match random.below(8) {
            0..=2 => writeln!(out, "  wait {barrier} phase={phase}"),
            3..=5 => writeln!(out, "  arrive {barrier} count=1"),
            6 => writeln!(out, "  op base -=read:generic:{tile} in_order"),
            _ => writeln!(out, "  op base -=write:generic:{tile} in_order"),
        };
    }
    out
}

#[test]
fn the_naive_explorer_agrees_on_random_kernels() {
    let mut random = Random(0x5eed_f00d_1234_5678);
    let limits = Limits::default();
    let (mut broken_kernels, mut confluent) = (0, 0);
    for number in 0..1_500 {
        let text = kernel(&mut random);
        let kernel = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).kernel;
        let outcome = decide(&kernel, &limits, &Cancel::never()).unwrap_or_else(|_| panic!("nobody cancels"));
        assert_eq!(outcome.gaps, [], "kernel {number}:\n{text}");
        let valuation = Valuation::default();
        let machine = Machine::new(&kernel, &valuation, &limits);
        let mut broken = false;
        let explored = naive(&machine, &limits, &Cancel::never(), |state, _| broken |= !state.violations().is_empty());
        assert!(explored.is_ok_and(|explored| explored.complete), "kernel {number}:\n{text}");
        assert_eq!(!outcome.found.is_empty(), broken, "kernel {number}: {:?}\n{text}", outcome.found);
        broken_kernels += u32::from(broken);
        confluent += u32::from(outcome.runs == 1 && !broken);
    }
    assert!(broken_kernels > 400 && confluent > 20, "{broken_kernels} broken, {confluent} confluent and clean");
}
