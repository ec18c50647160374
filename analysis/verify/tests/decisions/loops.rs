//! Random loops: what is proved must hold for every small choice of inputs.
//!
//! A producer fills a ring by TMA and a consumer reads it, in flat, sequential, nested, persistent
//! and triangular loops, in some that a table in memory drives and in some that start elsewhere, with slots and phases counted in several ways. Most kernels have a slip:
//! one wait, phase or arrival is wrong under a condition, such as in iteration 13, in the second
//! outer iteration, or when the trip count is 5. A proof is compared with runs for all inputs up
//! to several periods.

use super::random::Random;
use base::{Cancel, Limits};
use explore::canonical;
use kernel::text::parse;
use kernel::{InputId, Kernel};
use machine::{Machine, MemoryWord, Valuation};
use std::fmt::Write;
use verify::{InputPlan, Reach, decide};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Shape {
    Flat,
    /// Two loops one after the other, over `n` and over `m`.
    Sequential,
    /// The same, both over `n`.
    Twice,
    Nested,
    /// The outer loop from a program's number in steps of the number of programs.
    Persistent,
    /// The inner loop runs as often as the outer counter says.
    Triangle,
    /// The inner loop runs as often as a word of memory says that the outer counter picks.
    Table,
    /// The producer counts from a program's number to `m`, the consumer how many that are.
    Offset,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Counting {
    /// One count over all loops, by remainder and quotient.
    Count,
    /// Slot and phase carried, by select.
    Select,
    /// Remainder and quotient of the inner counter: wrong where loops are nested.
    Inner,
    /// `outer * n + inner`.
    Product,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum When {
    Never,
    Inner(u64),
    InnerAbove(u64),
    Outer(u64),
    TripCount(u64),
    TripRest(u64),
    Last,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Slip {
    FullWait,
    EmptyWait,
    Release,
    ConsumerPhase,
    ProducerPhase,
}

struct Case {
    shape: Shape,
    counting: Counting,
    when: When,
    slip: Slip,
    depth: u64,
}

fn case(random: &mut Random) -> Case {
    let shapes = [
        Shape::Flat,
        Shape::Sequential,
        Shape::Twice,
        Shape::Nested,
        Shape::Nested,
        Shape::Persistent,
        Shape::Triangle,
        Shape::Table,
        Shape::Offset,
    ];
    let shape = shapes[random.below(9) as usize];
    let countings = [Counting::Count, Counting::Select, Counting::Inner, Counting::Product];
    let counting = countings[random.below(if shape == Shape::Nested { 4 } else { 2 }) as usize];
    let counting = if shape == Shape::Flat && random.below(2) == 0 { Counting::Inner } else { counting };
    let when = match random.below(9) {
        0 | 1 => When::Never,
        2 => When::Inner([0, 1, 2, 7, 13, 24][random.below(6) as usize]),
        3 => When::InnerAbove([0, 3, 9][random.below(3) as usize]),
        4 => When::Outer(random.below(4)),
        5 => When::TripCount([2, 5, 9, 17][random.below(4) as usize]),
        6 => When::TripRest(2 + random.below(4)),
        _ => When::Last,
    };
    let slips = [Slip::FullWait, Slip::EmptyWait, Slip::Release, Slip::ConsumerPhase, Slip::ProducerPhase];
    Case { shape, counting, when, slip: slips[random.below(5) as usize], depth: 1 + random.below(3) }
}

/// The blocks of one partition, named `name…`; `end` is its last block's terminator.
fn partition(case: &Case, name: &str, producer: bool, end: &str) -> (String, String) {
    let depth = case.depth;
    let (mut out, mut loops) = (String::new(), String::new());
    let nested = matches!(case.shape, Shape::Nested | Shape::Persistent | Shape::Triangle | Shape::Table);
    let first = if case.shape == Shape::Offset && producer { "%pid" } else { "%zero" };
    let start = if producer { "%one" } else { "%zero" };
    let (lower, step) = match case.shape {
        Shape::Persistent => ("%pid", "%np"),
        _ => ("%zero", "%one"),
    };
    let mut inner = |at: &str, bound: &str, next: &str, outer: &str, out: &mut String, site: u32| {
        let p = format!("{name}{at}");
        let _ = writeln!(out, "block b{p}i(%{p}i, %{p}x, %{p}y)");
        let _ = writeln!(out, "  %{p}more = cmp slt w32 %{p}i {bound}\n  branch %{p}more b{p}b() b{p}e()");
        let _ = writeln!(out, "block b{p}b()");
        let (slot, phase) = (format!("%{p}slot"), format!("%{p}phase"));
        let counted = |out: &mut String, count: &str| {
            let _ = writeln!(out, "  {slot} = rem_s w32 {count} %depth\n  %{p}round = div_s w32 {count} %depth");
            let _ = writeln!(out, "  %{p}shift = add w32 %{p}round {start}\n  %{p}phase = and w32 %{p}shift %one");
        };
        match case.counting {
            Counting::Count => counted(out, &format!("%{p}x")),
            Counting::Inner => counted(out, &format!("%{p}i")),
            Counting::Product => {
                let _ = writeln!(out, "  %{p}mul = mul w32 {outer} %n\n  %{p}sum = add w32 %{p}mul %{p}i");
                counted(out, &format!("%{p}sum"));
            }
            Counting::Select => {
                let _ = writeln!(out, "  {slot} = add w32 %{p}x %zero\n  {phase} = add w32 %{p}y %zero");
            }
        }
        let trips = match case.shape {
            Shape::Table => bound,
            Shape::Offset => "%span",
            _ => "%n",
        };
        let condition = match case.when {
            When::Never => "const 0".to_owned(),
            When::Inner(at) => format!("cmp eq w32 %{p}i %k{at}"),
            When::InnerAbove(at) => format!("cmp sgt w32 %{p}i %k{at}"),
            When::Outer(at) => format!("cmp eq w32 {outer} %k{at}"),
            When::TripCount(at) => format!("cmp eq w32 {trips} %k{at}"),
            When::TripRest(by) => {
                let _ = writeln!(out, "  %{p}rest = rem_s w32 {trips} %k{by}");
                format!("cmp eq w32 %{p}rest %one")
            }
            When::Last => {
                let _ = writeln!(out, "  %{p}last = sub w32 {bound} %one");
                format!("cmp eq w32 %{p}i %{p}last")
            }
        };
        let _ = writeln!(out, "  %{p}bad = {condition}\n  %{p}ok = xor w1 %{p}bad %true");
        let only = |slip: Slip| if case.slip == slip { format!(" if %{p}ok") } else { String::new() };
        let turned = if producer { Slip::ProducerPhase } else { Slip::ConsumerPhase };
        let phase = if case.slip == turned {
            let _ = writeln!(out, "  %{p}bit = ext_u w1 w32 %{p}bad\n  %{p}wrong = xor w32 {phase} %{p}bit");
            format!("%{p}wrong")
        } else {
            phase.clone()
        };
        let _ = writeln!(
            out,
            "  %{p}full:sbar = index %full at={slot} stride=64 count={depth}
  %{p}empty:sbar = index %empty at={slot} stride=64 count={depth}
  %{p}data:sone = index %data at={slot} stride=32768 count={depth}"
        );
        if producer {
            let _ = writeln!(
                out,
                "  wait %{p}empty phase={phase}{}
  expect %{p}full bytes=4096
  op tma -=write:async:%{p}data transaction [%{p}full count=0 bytes=4096]",
                only(Slip::EmptyWait)
            );
        } else {
            let _ = writeln!(
                out,
                "  wait %{p}full phase={phase}{}
  op base -=read:generic:%{p}data in_order
  proxy_fence
  arrive %{p}empty count=1{}",
                only(Slip::FullWait),
                only(Slip::Release)
            );
        }
        let carried = if case.counting == Counting::Select {
            let _ = writeln!(
                out,
                "  %{p}wrap = cmp eq w32 %{p}x %lastslot
  %{p}x1 = add w32 %{p}x %one
  %{p}x2 = select %{p}wrap %zero %{p}x1
  %{p}y1 = xor w32 %{p}y %one
  %{p}y2 = select %{p}wrap %{p}y1 %{p}y"
            );
            format!("%{p}x2, %{p}y2")
        } else {
            let _ = writeln!(out, "  %{p}x1 = add w32 %{p}x %one");
            format!("%{p}x1, %{p}y")
        };
        let _ = writeln!(out, "  %{p}i1 = add w32 %{p}i %one\n  jump b{p}i(%{p}i1, {carried})");
        let _ =
            writeln!(out, "block b{p}e()\n{}", next.replace("X", &format!("%{p}x")).replace("Y", &format!("%{p}y")));
        let parent = if nested { format!(" parent=l{name}") } else { String::new() };
        let _ = writeln!(loops, "loop l{p} @{site} head=b{p}i counted=%{p}i,{first},{bound},%one{parent}");
    };
    let site = if producer { 300 } else { 200 };
    if nested {
        let own = matches!(case.shape, Shape::Triangle | Shape::Table);
        let bound = if own { format!("%{name}bound") } else { "%n".to_owned() };
        let _ = writeln!(out, "block b{name}(%{name}o, %{name}x, %{name}y)");
        let _ = writeln!(out, "  %{name}more = cmp slt w32 %{name}o %m\n  branch %{name}more b{name}in() b{name}end()");
        let _ = writeln!(out, "block b{name}in()");
        if case.shape == Shape::Triangle {
            let _ = writeln!(out, "  %{name}bound = add w32 %{name}o %one");
        }
        if case.shape == Shape::Table {
            let _ = writeln!(out, "  %{name}at = mul w32 %{name}o %k4\n  %{name}bound = load i4 %{name}at");
        }
        let _ = writeln!(out, "  jump b{name}1i(%zero, %{name}x, %{name}y)");
        let next = format!("  %{name}o1 = add w32 %{name}o {step}\n  jump b{name}(%{name}o1, X, Y)");
        inner("1", &bound, &next, &format!("%{name}o"), &mut out, site + 1);
        let _ = writeln!(out, "block b{name}end()\n{end}");
        let outer = format!("loop l{name} @{site} head=b{name} counted=%{name}o,{lower},%m,{step}\n");
        loops.insert_str(0, &outer);
    } else {
        let _ =
            writeln!(out, "block b{name}(%{name}o, %{name}x, %{name}y)\n  jump b{name}1i({first}, %{name}x, %{name}y)");
        let two = matches!(case.shape, Shape::Sequential | Shape::Twice);
        let next = if two { format!("  jump b{name}2i(%zero, X, Y)") } else { end.to_owned() };
        let bound = match (case.shape, producer) {
            (Shape::Offset, true) => "%m",
            (Shape::Offset, false) => "%span",
            _ => "%n",
        };
        inner("1", bound, &next, "%zero", &mut out, site + 1);
        if two {
            let bound = if case.shape == Shape::Twice { "%n" } else { "%m" };
            inner("2", bound, end, "%one", &mut out, site + 2);
        }
    }
    (out, loops)
}

fn kernel(case: &Case) -> (String, Kernel) {
    let depth = case.depth;
    let (consumer, consumer_loops) = partition(case, "c", false, "  @100 join blast()");
    let (producer, producer_loops) = partition(case, "p", true, "  @102 exit");
    let constants: String = (2..=24).map(|value| format!("  %k{value} = const {value}\n")).collect();
    let inits: String = (0..depth)
        .map(|slot| {
            format!(
                "  %s{slot} = const {slot}
  %f{slot}:sbar = index %full at=%s{slot} stride=64 count={depth}
  %e{slot}:sbar = index %empty at=%s{slot} stride=64 count={depth}
  init %f{slot} count=1
  init %e{slot} count=1
"
            )
        })
        .collect();
    let text = format!(
        "kernel ctas=1 entry=b0
partition warps=4
partition warps=1
buffer $data shared bits={total} slot=32768
buffer $full shared bits={bars} slot=64 barriers
buffer $empty shared bits={bars} slot=64 barriers
shape sall element=16 dims={depth}:32768,2048:16
shape sone element=16 dims=2048:16
shape sbars element=64 dims={depth}:64
shape sbar element=64 dims=1:64
input i0 argument 0 width=32 divisor=1
input i1 argument 1 width=32 divisor=1
input i2 program_id 0 width=32 divisor=1
input i3 num_programs 0 width=32 divisor=1
input i4 memory width=32 divisor=1
block b0()
  %data:sall = base $data
  %full:sbars = base $full
  %empty:sbars = base $empty
  %zero = const 0
  %one = const 1
  %true = const 1
  %k0 = const 0
  %k1 = const 1
{constants}  %depth = const {depth}
  %lastslot = const {last}
  %n = input i0
  %m = input i1
  %pid = input i2
  %np = input i3
  %span = sub w32 %m %pid
{inits}  @100 fork bc({lower}, %zero, %zero) 1:bp({lower}, %zero, %one)
{consumer}block blast()
  @101 return
{producer}{consumer_loops}{producer_loops}",
        total = depth * 32768,
        bars = depth * 64,
        last = depth - 1,
        lower = if case.shape == Shape::Persistent { "%pid" } else { "%zero" },
    );
    let kernel = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).kernel;
    (text, kernel)
}

/// What a proof has to hold for: trip counts up to several periods, few programs.
fn valuations(case: &Case) -> Vec<Valuation> {
    let outer = if matches!(case.shape, Shape::Flat | Shape::Twice) { 0..=0 } else { 0..=7i64 };
    let programs: &[(i64, i64)] = if case.shape == Shape::Persistent { &[(0, 1), (1, 2), (0, 3)] } else { &[(0, 1)] };
    let mut all = Vec::new();
    if case.shape == Shape::Table {
        // Tables of all sorts: of few rows and many, of none and of all alike.
        let mut random = Random(0x7ab1_e5ee_d000_0001);
        for rows in [1, 2, 3, 5, 7] {
            for most in [2, 4, 7, 20] {
                for _ in 0..12 {
                    let mut valuation = Valuation { values: vec![0, rows, 0, 1, 0], ..Valuation::default() };
                    for row in 0..rows {
                        let word =
                            MemoryWord { memory: InputId(4), address: 4 * row, value: random.below(most) as i64 };
                        valuation.set_word(word);
                    }
                    all.push(valuation);
                }
            }
        }
        return all;
    }
    let programs: &[(i64, i64)] =
        if case.shape == Shape::Offset { &[(0, 8), (1, 8), (2, 8), (5, 8)] } else { programs };
    let outer = if case.shape == Shape::Offset { 0..=31 } else { outer };
    for n in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 17, 18, 25, 26, 31] {
        for m in outer.clone() {
            all.extend(
                programs.iter().map(|&(pid, np)| Valuation { values: vec![n, m, pid, np, 0], ..Valuation::default() }),
            );
        }
    }
    all
}

#[test]
fn what_is_proved_holds_for_all_small_inputs() {
    let mut random = Random(0x1005_5eed_0ddb_a11d);
    let limits = Limits::default();
    let (mut proved, mut broken, mut open, mut missed) = (0, 0, Vec::new(), Vec::new());
    for number in 0..500 {
        let case = case(&mut random);
        let (text, kernel) = kernel(&case);
        let described = format!(
            "{number}: {:?} {:?} {:?} {:?} depth {}",
            case.shape, case.counting, case.when, case.slip, case.depth
        );
        let outcome = decide(&kernel, &limits, &Cancel::never()).unwrap_or_else(|_| panic!("nobody cancels"));
        let plan = InputPlan::new(&kernel, &limits);
        let closed = matches!(outcome.reach, Reach::Closed(_));
        let mut bad = None;
        for valuation in valuations(&case).iter().filter(|valuation| plan.is_ample(&kernel, valuation)) {
            let run = canonical(&Machine::new(&kernel, valuation, &limits));
            if !run.state.violations().is_empty() || !run.state.schedule_hazards().is_empty() {
                bad = Some((valuation.clone(), run.state.violations().first().cloned()));
                break;
            }
        }
        assert!(!closed || bad.is_none(), "{described} is proved: {bad:?}\n{text}");
        proved += u32::from(closed);
        broken += u32::from(bad.is_some());
        if bad.is_some() && outcome.found.is_empty() && outcome.lapped.is_empty() {
            missed.push(format!("{described}: {:?}", outcome.reach));
        }
        if bad.is_none() && !closed {
            open.push(format!("{described}: {:?} {:?} {:?}", outcome.reach, outcome.gaps, outcome.found.len()));
        }
    }
    let summary = format!(
        "{proved} proved, {broken} broken, {} of them not found: {missed:#?}, {} open: {open:#?}",
        missed.len(),
        open.len()
    );
    assert!(proved > 80 && broken > 200 && open.len() < 20 && missed.len() < 10, "{summary}");
}
