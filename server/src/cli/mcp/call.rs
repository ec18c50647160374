//! What a tool answers: the command's text and its document.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Cancel;
use clap::Parser;
use engine::SharedCache;
use findings::PrintedCode;
use mcp::{CallArguments, Tool, ToolAnswer};
use serde_json::{Map, Value, json};

use super::super::answer::Answer;
use super::super::args::{Args, Check, Command, Format, ReportFormat, TraceFormat};
use super::super::check::{CheckOptions, Surroundings, print, printer};
use super::super::process::Exit;
use super::super::sources::{Origin, Source, looks_like_python};
use super::super::{explain, report, run, trace};
use workspace::absolute;

/// What calls share.
#[derive(Default)]
pub(super) struct Shared {
    /// What earlier checks have found out.
    pub(super) cache: Arc<SharedCache>,
    /// The user's Python, if files may be executed.
    pub(super) python: Option<PathBuf>,
}

/// The answer to a call. What is wrong with its arguments, and what could not be looked at, are answers too, so that an
/// agent reads them.
pub(super) fn call(tool: &Tool, arguments: &Map<String, Value>, shared: &Shared, stop: &Arc<AtomicBool>) -> ToolAnswer {
    let asked = CallArguments::read(tool, arguments).and_then(|asked| parse(tool, asked));
    match asked {
        Ok((command, given, limit)) => result(answer(command, given, shared, stop), limit),
        Err(problem) => ToolAnswer::error(&problem),
    }
}

/// Reads a call as the command line would.
fn parse(tool: &Tool, asked: CallArguments) -> Result<(Command, Option<Source>, usize), String> {
    let CallArguments { options, mut words, path, text, limit } = asked;
    let given = text.map(|text| {
        let unnamed = || PathBuf::from(if looks_like_python(&text) { "text.py" } else { "text.ttgir" });
        let path = path.as_ref().map_or_else(unnamed, |path| absolute(Path::new(path)));
        Source { origin: Origin::Given(path, Arc::from(text.as_str())), named: true }
    });
    let named = given.as_ref().and_then(Source::file).map(|path| path.as_os_str().to_owned());
    words.extend(named.or(path.map(OsString::from)));
    let mut line: Vec<OsString> = vec!["fencepost".into(), tool.name.into()];
    line.extend(tool.source.map(|_| "--color=never".into()));
    line.extend(options);
    line.push("--".into());
    line.extend(words);
    let command = Args::try_parse_from(line).map_err(|error| said(&error))?.command;
    Ok((command, given, limit))
}

/// What the parser says, without the usage of a command line.
fn said(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or(&text).split("\n\nFor more").next().unwrap_or(&text);
    text.trim_start_matches("error: ").trim_end().to_owned()
}

/// Runs the command: first for people, then for tools.
fn answer(command: Command, given: Option<Source>, shared: &Shared, stop: &Arc<AtomicBool>) -> Answer {
    let stopped = || stop.load(Ordering::Relaxed);
    let cancel = Cancel::when(&stopped);
    match command {
        Command::Check(args) => {
            let cache = shared.cache.clone();
            checked(&args, Surroundings { global: false, given, cache, stop: stop.clone() })
        }
        Command::Trace(mut args) => {
            args.width = args.width.or(Some(100));
            let options = CheckOptions {
                cache: shared.cache.clone(),
                stop: stop.clone(),
                ..CheckOptions::new(Some(args.semantics.into()), args.python.clone())
            };
            let source = given.unwrap_or_else(|| Source::named(&args.path));
            trace::answer(&args, &source, &options, &[TraceFormat::Text, TraceFormat::Json])
        }
        Command::Report(mut args) => {
            args.width = args.width.or(Some(100));
            let sources: Vec<Source> = match given {
                Some(given) => vec![given],
                None => args.paths.iter().map(|path| Source::named(path)).collect(),
            };
            report::answer(&args, &sources, &[ReportFormat::Text, ReportFormat::Json], &cancel)
        }
        Command::Run(args) => {
            // A text that is on no disk cannot be executed.
            let python = shared.python.as_deref().filter(|_| given.is_none()).map(Path::to_path_buf);
            let source = given.unwrap_or_else(|| Source::named(&args.path));
            run::answer(&args, &source, python.as_deref(), &[Format::Human, Format::Json], &cancel)
        }
        Command::Explain { kind } => explained(kind.as_deref()),
        _ => Answer::trouble("this command is no tool"),
    }
}

fn checked(args: &Check, around: Surroundings) -> Answer {
    let (mut human, mut json) = (Vec::new(), Vec::new());
    let printed = print(
        args,
        around,
        &mut [(printer(args, Format::Human), &mut human), (printer(args, Format::Json), &mut json)],
    );
    match printed {
        Ok(answer) => {
            let documents = [human, json].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            Answer { documents: documents.to_vec(), ..answer }
        }
        Err(error) => Answer::trouble(error.to_string()),
    }
}

fn explained(kind: Option<&str>) -> Answer {
    let mut answer = explain::answer(kind);
    let codes =
        PrintedCode::all().filter(|code| kind.is_none_or(|_| Some(*code) == kind.and_then(PrintedCode::from_name)));
    let codes = codes.map(|code| {
        let mut one = json!({ "code": code.name, "severity": code.severity.name(), "summary": code.summary() });
        if kind.is_some() {
            one["page"] = json!(code.page);
        }
        one
    });
    if !answer.documents.is_empty() {
        answer.documents.push(json!({ "codes": codes.collect::<Vec<_>>() }).to_string());
    }
    answer
}

fn result(answer: Answer, limit: usize) -> ToolAnswer {
    let Answer { documents, problems, notes, exit } = answer;
    let mut documents = documents.into_iter();
    let (mut text, document) = (documents.next().unwrap_or_default(), documents.next());
    let mut document = document.and_then(|document| serde_json::from_str::<Value>(&document).ok());
    // Nothing of it could be read.
    let files = document.as_ref().and_then(|document| document["files"].as_array());
    let unread = files.is_some_and(|files| !files.is_empty() && files.iter().all(|file| file["problem"].is_object()));
    // There is nothing to show but what is wrong: a kernel or a section that is not there, arguments that do not fit.
    let nothing = text.is_empty();
    let problems: String = problems.iter().chain(&notes).map(|problem| format!("{problem}\n")).collect();
    // What is wrong comes first: it is not to be cut off.
    text.insert_str(0, &problems);
    if let Some(members) = document.as_mut().and_then(Value::as_object_mut) {
        members.insert("exitCode".to_owned(), json!(exit as u8));
    }
    ToolAnswer { text, document, is_error: exit == Exit::Trouble && (nothing || unread), limit }
}
