//! Random edits of twenty real files. `chaos [COUNT] [--pace N] [--seed N] [--jobs N] [FILTER]` makes so many edits in
//! all, compares the whole analysis after each Nth, and prints the first difference of each file, cut down. With `--lsp
//! SERVER` the edits go to that program, with requests and cancellations in between, and after each Nth its answers are
//! compared with those of a server that is started for that text. `chaos --typing SERVER [--jobs N] [FILTER]` types a
//! line into the middle of each broken kernel of the corpus, key by key: what was found has to stay where it is.
//! `--folder FOLDER` takes the Python files that lie there in place of the twenty.
//! The program may be carried to another machine and run there in a checkout.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use fencepost_tests::chaos::{Pace, edit, files};
use fencepost_tests::lsp::corpus::type_into_all;
use fencepost_tests::lsp::random::{Session, Tally};
use fencepost_tests::parallel::{cores, each};

/// Edits of one session: the work is shared among threads by them.
const SESSION: usize = 500;

struct Arguments {
    count: usize,
    pace: usize,
    seed: u64,
    jobs: usize,
    filter: String,
    lsp: Option<PathBuf>,
    typing: Option<PathBuf>,
    folder: Option<PathBuf>,
}

impl Arguments {
    fn read() -> Arguments {
        let mut words = std::env::args().skip(1);
        let (jobs, filter) = (cores(), String::new());
        let mut read =
            Arguments { count: 1000, pace: 50, seed: 1, jobs, filter, lsp: None, typing: None, folder: None };
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(1);
            match word.as_str() {
                "--pace" => read.pace = number(),
                "--seed" => read.seed = number() as u64,
                "--jobs" => read.jobs = number(),
                "--edits" => read.count = number(),
                "--lsp" => read.lsp = words.next().map(PathBuf::from),
                "--folder" => read.folder = words.next().map(PathBuf::from),
                "--typing" => read.typing = words.next().map(PathBuf::from),
                other => match other.parse() {
                    Ok(number) => read.count = number,
                    Err(_) => read.filter = other.to_owned(),
                },
            }
        }
        read
    }
}

/// The files to edit, each with its text.
fn chosen(arguments: &Arguments) -> Vec<(String, String)> {
    let all = match &arguments.folder {
        None => files(),
        Some(folder) => {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.retain(|path| path.extension().is_some_and(|ending| ending == "py"));
            paths.sort();
            let read = |path: PathBuf| Some((path.display().to_string(), std::fs::read_to_string(&path).ok()?));
            paths.into_iter().filter_map(read).collect()
        }
    };
    all.into_iter().filter(|(path, _)| path.contains(&arguments.filter)).collect()
}

fn main() -> ExitCode {
    let arguments = Arguments::read();
    let begun = Instant::now();
    let right = match (&arguments.lsp, &arguments.typing) {
        (Some(program), _) => over_the_wire(&arguments, program),
        (None, Some(program)) => typing(&arguments, program),
        (None, None) => in_process(&arguments),
    };
    println!("in {:.0?} with {} jobs", begun.elapsed(), arguments.jobs);
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn in_process(arguments: &Arguments) -> bool {
    let files: Vec<_> = chosen(arguments).into_iter().zip(0..).collect();
    let share = arguments.count.div_ceil(files.len().max(1));
    let done = each(arguments.jobs, &files, |((path, text), stream)| {
        edit(path, text, (arguments.seed, *stream), share, Pace(arguments.pace))
    });
    let mut failed = 0;
    for (((path, _), _), done) in files.iter().zip(done) {
        match done {
            Ok(Ok(())) => println!("{path}: {share} edits"),
            Ok(Err(found)) => {
                failed += 1;
                println!("{path}: {found}");
            }
            Err(panic) => {
                failed += 1;
                println!("{path}: panics: {panic}");
            }
        }
    }
    println!("{} files, {} edits, {failed} with a difference", files.len(), share * files.len());
    failed == 0
}

fn over_the_wire(arguments: &Arguments, program: &Path) -> bool {
    let paths: Vec<PathBuf> = chosen(arguments).into_iter().map(|(path, _)| PathBuf::from(path)).collect();
    let rounds = arguments.count.div_ceil(SESSION * paths.len().max(1)).max(1);
    let edits = arguments.count.div_ceil(rounds * paths.len().max(1));
    let sessions = (0..rounds).flat_map(|round| paths.iter().map(move |path| (round, path)));
    let sessions: Vec<Session> = sessions
        .zip(0..)
        .map(|((_, path), stream)| Session {
            program: program.to_path_buf(),
            path: path.clone(),
            edits,
            pace: arguments.pace,
            seed: (arguments.seed, stream),
            unit: [8, 16, 32][(stream % 3) as usize],
        })
        .collect();
    let (mut all, mut failed) = (Tally::default(), 0);
    for (session, held) in sessions.iter().zip(each(arguments.jobs, &sessions, Session::hold)) {
        match held {
            Ok(tally) => all = all.and(tally),
            Err(why) => {
                failed += 1;
                println!("{} with seed {:?}: {why:.2000}", session.path.display(), session.seed);
            }
        }
    }
    let Tally { edits, requests, cancelled, compared } = all;
    println!(
        "{} files, {edits} edits in {} sessions, {requests} requests answered, {cancelled} cancelled, {compared} texts \
         compared, {failed} sessions with a difference or without an answer",
        paths.len(),
        sessions.len()
    );
    failed == 0
}

fn typing(arguments: &Arguments, program: &std::path::Path) -> bool {
    let all = match type_into_all(program, arguments.jobs, &arguments.filter) {
        Ok(all) => all,
        Err(why) => {
            eprintln!("{why}");
            return false;
        }
    };
    for outcome in &all {
        match &outcome.stayed {
            Ok(_) => {}
            Err(why) => println!("{}: {why:.1500}", outcome.name),
        }
    }
    let moved = all.iter().filter(|outcome| outcome.stayed.is_err()).count();
    let findings: usize = all.iter().filter_map(|outcome| outcome.stayed.as_ref().ok()).sum();
    println!(
        "{} kernels typed into, {findings} findings stayed; {moved} with none, or one that went or moved",
        all.len()
    );
    moved == 0
}
