//! Proofs beside runs, on kernels that a generator makes, and what single rules say.

use base::Cancel;
use base::rng::{mix, unit};
use ttgir::Document;

use races::{Global, Launch, Status, contradictions, races};

/// One kernel of a text.
fn decide(text: &str, launch: &Launch) -> Global {
    let document = Document::new(text);
    let tree = document.sections()[0].tree();
    assert!(tree.errors().is_empty(), "{:?}\n{text}", tree.errors());
    let wrong = contradictions(tree, launch, &Cancel::never()).expect("nobody cancels");
    assert!(wrong.is_empty(), "proved apart, and a run shows a race: {wrong:?}\n{text}");
    let all = races(tree, std::slice::from_ref(launch), &Cancel::never()).expect("nobody cancels");
    all.into_iter().next().expect("a kernel")
}

/// Lines of TTIR that make a random expression of the program and the lanes; gives its name.
struct Writer {
    lines: String,
    next: u32,
    seed: u64,
}

impl Writer {
    fn pick(&mut self, of: u64) -> u64 {
        self.seed = mix(self.seed.wrapping_add(1));
        (unit(self.seed, 0) * of as f64) as u64 % of
    }

    fn op(&mut self, text: &str) -> String {
        let name = format!("%v{}", self.next);
        self.next += 1;
        self.lines.push_str(&format!("    {name} = {text} : tensor<8xi32>\n"));
        name
    }

    fn constant(&mut self, value: u64) -> String {
        self.op(&format!("arith.constant dense<{value}>"))
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.pick(4) {
                0 => "%lane".to_owned(),
                1 => {
                    let value = self.pick(20);
                    self.constant(value)
                }
                _ => "%pid".to_owned(),
            };
        }
        let a = self.expression(depth - 1);
        match self.pick(9) {
            0..4 => {
                let b = self.expression(depth - 1);
                self.op(&format!("arith.addi {a}, {b}"))
            }
            4 => {
                let value = [2, 4, 8, 16, 7][self.pick(5) as usize];
                let b = self.constant(value);
                self.op(&format!("arith.muli {a}, {b}"))
            }
            5 => {
                let value = [2, 3, 8][self.pick(3) as usize];
                let b = self.constant(value);
                self.op(&format!("arith.divsi {a}, {b}"))
            }
            6 => {
                let value = [4, 8, 5][self.pick(3) as usize];
                let b = self.constant(value);
                self.op(&format!("arith.remsi {a}, {b}"))
            }
            7 => {
                let b = self.expression(depth - 1);
                self.op(&format!("arith.minsi {a}, {b}"))
            }
            _ => {
                let b = self.expression(depth - 1);
                self.op(&format!("arith.maxsi {a}, {b}"))
            }
        }
    }
}

fn generated(seed: u64) -> String {
    let mut writer = Writer { lines: String::new(), next: 0, seed };
    let offset = writer.expression(3);
    let (left, right) = (writer.expression(1), writer.expression(2));
    format!(
        "module {{
  tt.func public @k(%out: !tt.ptr<i32>) {{
    %p = tt.get_program_id x : i32
    %pid = tt.splat %p : i32 -> tensor<8xi32>
    %lane = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
{}    %keep = arith.cmpi sle, {left}, {right} : tensor<8xi32>
    %to = tt.splat %out : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %at = tt.addptr %to, {offset} : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    tt.store %at, %lane, %keep : tensor<8x!tt.ptr<i32>>
    tt.return
  }}
}}
",
        writer.lines
    )
}

/// A launch is small enough to be run in whole: the decision is then what the run shows.
#[test]
fn generated_kernels_are_decided_as_their_runs_show() {
    let (mut proved, mut found, mut clean) = (0, 0, 0);
    for seed in 0..300 {
        let text = generated(seed);
        let known = decide(&text, &Launch { grid: [Some(4), Some(1), Some(1)], ..Launch::default() });
        match known.status {
            Status::Proved => proved += 1,
            Status::Found => found += 1,
            Status::Clean => clean += 1,
            other => panic!("{other:?} {:?}\n{text}", known.reasons),
        }
        // What holds of all grids holds of this one.
        let unknown = decide(&text, &Launch::default());
        assert!(unknown.status != Status::Proved || known.status != Status::Found, "{text}");
    }
    assert!(proved > 25 && found > 25, "{proved} proved, {found} found, {clean} clean: the generator is too tame");
    assert!(clean * 4 < proved + clean, "{clean} of {} without races are not proved", proved + clean);
}

/// A race that is told has two programs, a common byte and a writer.
#[test]
fn a_race_is_told_with_both_sides() {
    let text = "module {
  tt.func public @k(%out: !tt.ptr<f16>, %n: i32) {
    %c24 = arith.constant 24 : i32
    %p = tt.get_program_id x : i32
    %first = arith.muli %p, %c24 : i32
    %lane = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %firsts = tt.splat %first : i32 -> tensor<32xi32>
    %at = arith.addi %firsts, %lane : tensor<32xi32>
    %to = tt.splat %out : !tt.ptr<f16> -> tensor<32x!tt.ptr<f16>>
    %place = tt.addptr %to, %at : tensor<32x!tt.ptr<f16>>, tensor<32xi32>
    %zero = arith.constant dense<0.000000e+00> : tensor<32xf16>
    tt.store %place, %zero : tensor<32x!tt.ptr<f16>>
    tt.return
  }
}
";
    let global = decide(text, &Launch::default());
    assert_eq!(global.status, Status::Found);
    let [race] = global.races.as_slice() else { panic!("{:?}", global.races) };
    assert_eq!((race.tensor.as_str(), race.index, race.start, race.bytes), ("%out", 24, 48, 2));
    assert_eq!((race.first.program.as_slice(), race.second.program.as_slice()), (&[0][..], &[1][..]));
    assert_eq!((race.first.lane.as_slice(), race.second.lane.as_slice()), (&[24][..], &[0][..]));
    assert_eq!((race.first.extent, race.second.extent), ((0, 31), (24, 55)));
}

/// Neighbours of two bytes each in one word of four are apart.
#[test]
fn bytes_are_counted_not_words() {
    let text = "module {
  tt.func public @k(%out: !tt.ptr<bf16>) {
    %p = tt.get_program_id x : i32
    %place = tt.addptr %out, %p : !tt.ptr<bf16>, i32
    %zero = arith.constant 0.000000e+00 : bf16
    tt.store %place, %zero : !tt.ptr<bf16>
    tt.return
  }
}
";
    assert_eq!(decide(text, &Launch::default()).status, Status::Proved);
    // The same places seen as words overlap.
    let words = text.replace(
        "    %zero = arith.constant 0.000000e+00 : bf16\n    tt.store %place, %zero : !tt.ptr<bf16>\n",
        "    %wide = tt.bitcast %place : !tt.ptr<bf16> -> !tt.ptr<i32>\n    tt.store %wide, %p : !tt.ptr<i32>\n",
    );
    assert_eq!(decide(&words, &Launch::default()).status, Status::Found);
}

/// An assumption that no sizes fulfil but those of a single round proves nothing: with two, programs that are many meet.
#[test]
fn what_cannot_be_is_not_assumed() {
    let text = "module {
  tt.func public @k(%out: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %p = tt.get_program_id x : i32
    %first = arith.muli %p, %n : i32
    scf.for %k = %c0 to %n step %c1  : i32 {
      %by = arith.muli %k, %c64 : i32
      %at = arith.addi %first, %by : i32
      %place = tt.addptr %out, %at : !tt.ptr<i32>, i32
      tt.store %place, %k : !tt.ptr<i32>
    }
    tt.return
  }
}
";
    assert_eq!(decide(text, &Launch::default()).status, Status::Found);
    let given = Launch { values: vec![("n".to_owned(), 8)], grid: [Some(80), Some(1), Some(1)], ..Launch::default() };
    assert_eq!(decide(text, &given).status, Status::Found);
}
