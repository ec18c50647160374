//! Kernels that are made at random, right and with one slip: `generated COUNT [--seed N] [--runs N] [--jobs N] [--sort
//! NAME] [--show]` prints how many of the right ones are flagged, which slips are not found, and what runs on the CPU with
//! so many seeds say of both; `--save FOLDER` writes them as files. The program may be carried to another machine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use base::rng::SplitMix64;
use fencepost_tests::generate::{Design, Seen, SlipKind, judge, ran};
use fencepost_tests::parallel::{cores, each};

/// What became of kernels of one sort, or of slips of one kind.
#[derive(Default)]
struct Row {
    made: usize,
    found: usize,
    /// Not found, and no run shows anything.
    silent: usize,
}

/// What became of one design.
struct Done {
    sort: &'static str,
    /// `proved`, `clean`, `hinted` or `flagged`.
    right: &'static str,
    /// Whether it was run.
    ran: bool,
    /// Whether its runs are as they should be.
    runs: bool,
    /// The slip, whether it is found, and whether no run shows it where it is not.
    slip: Option<(SlipKind, bool, bool)>,
    /// What there is to be said of it.
    told: Vec<String>,
}

struct Arguments {
    count: u64,
    seed: u64,
    runs: u64,
    jobs: usize,
    show: bool,
    sort: Option<String>,
    save: Option<PathBuf>,
}

impl Arguments {
    fn read() -> Arguments {
        let mut words = std::env::args().skip(1);
        let jobs = cores();
        let mut read = Arguments { count: 100, seed: 1, runs: 0, jobs, show: false, sort: None, save: None };
        while let Some(word) = words.next() {
            let mut number = |usual: u64| words.next().and_then(|word| word.parse().ok()).unwrap_or(usual);
            match word.as_str() {
                "--seed" => read.seed = number(1),
                "--runs" => read.runs = number(0),
                "--jobs" => read.jobs = number(1) as usize,
                "--show" => read.show = true,
                "--sort" => read.sort = words.next(),
                "--save" => read.save = words.next().map(PathBuf::from),
                other => read.count = other.parse().unwrap_or(read.count),
            }
        }
        read
    }
}

fn one(number: u64, arguments: &Arguments) -> Option<Done> {
    let mut rng = SplitMix64::stream(arguments.seed, number);
    let design = Design::random(&mut rng);
    if arguments.sort.as_ref().is_some_and(|sort| sort != design.sort()) {
        return None;
    }
    let mut told = Vec::new();
    let right = design.write(None);
    let answer = judge(&right);
    if arguments.show {
        told.push(format!("# {number}: {design:?}\n# {}\n{}", right.recipe, right.text));
    }
    if let Some(folder) = &arguments.save {
        let file = folder.join(format!("{}_{number}.py", design.sort().replace(' ', "_")));
        if let Err(error) = std::fs::write(&file, &right.text) {
            told.push(format!("{}: {error}", file.display()));
        }
    }
    let named = match answer.verdict {
        verdict @ ("proved" | "clean") if answer.found.is_empty() => verdict,
        _ if answer.found.is_empty() && !answer.hints.is_empty() => "hinted",
        verdict => {
            told.push(format!("{number}: {verdict}, though it is right: {:?}\n  {design:?}", answer.found));
            "flagged"
        }
    };
    let mut done = Done { sort: design.sort(), right: named, ran: false, runs: true, slip: None, told };
    if let (Some(ir), true) = (&answer.ir, arguments.runs > 0 && design.is_run()) {
        done.ran = true;
        let seen = ran(&design, &right, ir, arguments.runs);
        done.runs = seen == Seen::Right;
        if !done.runs {
            done.told.push(format!("{number}: {seen:?}, though it is right\n  {design:?}"));
        }
    }
    let slips = design.slips();
    let Some(&slip) = slips.get(rng.below(slips.len().max(1))) else { return Some(done) };
    let broken = design.write(Some(slip));
    let answer = judge(&broken);
    if answer.verdict == "found" && !answer.found.is_empty() {
        done.slip = Some((slip.kind, true, false));
        return Some(done);
    }
    let seen = match &answer.ir {
        Some(ir) => ran(&design, &broken, ir, arguments.runs.max(8)),
        None => Seen::NotRun("there is no IR".to_owned()),
    };
    done.slip = Some((slip.kind, false, seen == Seen::Right));
    done.told.push(format!(
        "{number}: {slip:?} is {}, {:?} {:?}; a run: {seen:?}\n  {design:?}",
        answer.verdict, answer.found, answer.hints
    ));
    Some(done)
}

fn main() -> ExitCode {
    let arguments = Arguments::read();
    let begun = Instant::now();
    if let Some(Err(error)) = arguments.save.as_ref().map(std::fs::create_dir_all) {
        eprintln!("{error}");
        return ExitCode::from(2);
    }
    let numbers: Vec<u64> = (0..arguments.count).collect();
    let (mut verdicts, mut ran, mut wrong, mut missed, mut panics) = (BTreeMap::<&str, usize>::new(), 0, 0, 0, 0);
    let (mut rows, mut sorts) = (BTreeMap::<SlipKind, Row>::new(), BTreeMap::<&str, Row>::new());
    for (number, done) in numbers.iter().zip(each(arguments.jobs, &numbers, |number| one(*number, &arguments))) {
        let done = match done {
            Ok(Some(done)) => done,
            Ok(None) => continue,
            Err(panic) => {
                panics += 1;
                println!("{number}: panics: {panic}");
                continue;
            }
        };
        done.told.iter().for_each(|told| println!("{told}"));
        *verdicts.entry(done.right).or_default() += 1;
        ran += usize::from(done.ran);
        wrong += usize::from(!done.runs);
        sorts.entry(done.sort).or_default().made += 1;
        if let Some((kind, found, silent)) = done.slip {
            for row in [rows.entry(kind).or_default(), sorts.entry(done.sort).or_default()] {
                row.found += usize::from(found);
                row.silent += usize::from(silent);
            }
            rows.entry(kind).or_default().made += 1;
            missed += usize::from(!found);
        }
    }
    let count = |name: &str| verdicts.get(name).copied().unwrap_or(0);
    let (proved, clean, hinted, alarms) = (count("proved"), count("clean"), count("hinted"), count("flagged"));
    println!(
        "{} right kernels: {proved} proved, {clean} clean, {hinted} with hints alone, {alarms} flagged or undecided",
        verdicts.values().sum::<usize>()
    );
    if arguments.runs > 0 {
        println!("{ran} run with {} seeds each: {wrong} not as they should be", arguments.runs);
    }
    for (sort, row) in &sorts {
        println!("{sort}: {} kernels, {} with a slip found", row.made, row.found);
    }
    for (kind, row) in &rows {
        println!("{kind:?}: {} of {} found, {} of the others show in no run", row.found, row.made, row.silent);
    }
    let (made, found) = rows.values().fold((0, 0), |(made, found), row| (made + row.made, found + row.found));
    println!("{found} of {made} slips found");
    println!("in {:.0?} with {} jobs", begun.elapsed(), arguments.jobs);
    if alarms + wrong + missed + panics == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
