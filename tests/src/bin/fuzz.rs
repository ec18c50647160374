//! Mutated input: `fuzz [TARGET…] [--seconds N] [--jobs N] [--seed N] [--memory MIB] [--server PROGRAM] [--out FOLDER]`
//! reads mutations of our own files with all targets, or some, each in a process of its own and so many at once, and
//! prints a table: how many inputs were read, the slowest, the most memory, and what panicked, ended the process, took
//! longer than a second or more memory. What goes wrong is written to the folder, the slowest input of each target
//! too. `fuzz TARGET --input FILE` reads one input. The program may be carried to another machine and run there in a
//! checkout.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use base::Cancel;
use fencepost_tests::fuzz::memory::{Process, limit, processor_time};
use fencepost_tests::fuzz::{MEMORY, Plan, Row, Target, Until, all, fuzz, table, targets};
use fencepost_tests::parallel::cores;

/// The allocator of the released server: what is measured here is to hold there.
#[cfg(all(unix, feature = "jemalloc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// As much as the server gives its workers.
const STACK: usize = 64 << 20;

struct Arguments {
    seconds: u64,
    seed: u64,
    jobs: usize,
    memory: u64,
    only: Vec<String>,
    input: Option<PathBuf>,
    server: Option<PathBuf>,
    out: PathBuf,
    child: bool,
}

impl Arguments {
    fn read() -> Arguments {
        let mut words = std::env::args().skip(1);
        let out = std::env::temp_dir().join("fencepost-fuzz");
        let mut read = Arguments {
            seconds: 60,
            seed: 1,
            jobs: cores(),
            memory: MEMORY,
            only: Vec::new(),
            input: None,
            server: None,
            out,
            child: false,
        };
        while let Some(word) = words.next() {
            let mut number = |usual: u64| words.next().and_then(|word| word.parse().ok()).unwrap_or(usual);
            match word.as_str() {
                "--seconds" => read.seconds = number(60),
                "--seed" => read.seed = number(1),
                "--jobs" => read.jobs = number(1) as usize,
                "--memory" => read.memory = number(1024) << 20,
                "--input" => read.input = words.next().map(PathBuf::from),
                "--server" => read.server = words.next().map(PathBuf::from),
                "--out" => read.out = words.next().map(PathBuf::from).unwrap_or(read.out),
                "--child" => read.child = true,
                other => read.only.push(other.to_owned()),
            }
        }
        // Beside this program lies the server that was built with it.
        let beside = || Some(std::env::current_exe().ok()?.with_file_name("fencepost"));
        read.server = read.server.or_else(beside).filter(|path| path.is_file());
        read
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::read();
    if let Err(error) = std::fs::create_dir_all(&arguments.out) {
        eprintln!("{}: {error}", arguments.out.display());
        return ExitCode::from(2);
    }
    if arguments.server.is_none() && !arguments.child && arguments.input.is_none() {
        eprintln!("skipped: wire: there is no server beside this program, and --server names none");
    }
    let names: Vec<&str> = targets(arguments.server.as_deref()).iter().map(|target| target.name).collect();
    if let Some(strange) = arguments.only.iter().find(|only| !names.contains(&only.as_str())) {
        eprintln!("there is no target {strange}; there are {}", names.join(", "));
        return ExitCode::from(2);
    }
    if arguments.child || arguments.input.is_some() {
        // Readers recurse as deep as they do in the server.
        let reads = std::thread::Builder::new().stack_size(STACK).spawn(move || one(&arguments));
        return reads.ok().and_then(|reads| reads.join().ok()).unwrap_or(ExitCode::FAILURE);
    }
    let Ok(program) = std::env::current_exe() else { return ExitCode::from(2) };
    let mut further = vec!["--memory".to_owned(), (arguments.memory >> 20).to_string()];
    further.extend(arguments.server.iter().flat_map(|path| ["--server".to_owned(), path.display().to_string()]));
    let rows = all(&Plan {
        program,
        targets: if arguments.only.is_empty() {
            names.into_iter().map(str::to_owned).collect()
        } else {
            arguments.only
        },
        time: Duration::from_secs(arguments.seconds),
        seed: arguments.seed,
        jobs: arguments.jobs,
        out: arguments.out,
        arguments: further,
    });
    println!("{}", table(&rows));
    if rows.iter().all(|row| row.troubles.is_empty()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Reads one input, or mutated ones of one target, in this process.
fn one(arguments: &Arguments) -> ExitCode {
    let all = targets(arguments.server.as_deref());
    let Some(target) = all.iter().find(|target| arguments.only.iter().any(|only| only == target.name)) else {
        eprintln!("name a target");
        return ExitCode::from(2);
    };
    if let Some(path) = &arguments.input {
        return read(target, path);
    }
    // What asks for more at once ends the process, before the machine has none left. A server would inherit it, and
    // with many cores the room for the stacks of its threads is more than that; what it takes is looked at all the same.
    if target.name != "wire" {
        limit(arguments.memory + (STACK as u64));
    }
    let now = arguments.out.join(format!("{}.now", target.name));
    let mut keep = |input: &[u8]| drop(std::fs::write(&now, input));
    let until = Until::Time(Duration::from_secs(arguments.seconds));
    let done = fuzz(target, arguments.seed, until, arguments.memory, &mut keep);
    let named = |what: &str| arguments.out.join(format!("{}-{}-{what}", target.name, arguments.seed));
    let _ = std::fs::write(named("slowest"), &done.slowest_input);
    let troubles = done.troubles.iter().enumerate().map(|(at, trouble)| {
        let path = named(&at.to_string());
        let _ = std::fs::write(&path, &trouble.input);
        format!("{}: {}", path.display(), trouble.what)
    });
    let row = Row {
        target: target.name.to_owned(),
        inputs: done.inputs,
        slowest: done.slowest.as_millis() as u64,
        peak: done.peak >> 20,
        troubles: troubles.collect(),
    };
    print!("{}", row.line());
    ExitCode::SUCCESS
}

fn read(target: &Target, path: &Path) -> ExitCode {
    let Ok(bytes) = std::fs::read(path) else {
        eprintln!("{}: it cannot be read", path.display());
        return ExitCode::from(2);
    };
    let (begun, spent) = (Instant::now(), processor_time());
    (target.read)(&bytes, &Cancel::never());
    let (clock, spent) = (begun.elapsed(), processor_time().saturating_sub(spent));
    println!("{}: {clock:.2?}, {spent:.2?} of the processor, {} MiB", target.name, Process::Own.peak() >> 20);
    ExitCode::SUCCESS
}
