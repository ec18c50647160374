//! What a tool answers: the command's text and its document, no larger than they may be.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Cancel;
use engine::SharedCache;
use findings::Code;
use serde_json::{Map, Value, json};

use super::super::answer::Answer;
use super::super::args::{Check, Command, Format, ReportFormat, TraceFormat};
use super::super::check::{CheckOptions, Surroundings, print, printer};
use super::super::process::Exit;
use super::super::sources::Source;
use super::super::{explain, report, run, trace};
use super::arguments::{Asked, read};
use super::bound;
use super::tools::Tool;

/// What calls share.
#[derive(Default)]
pub(super) struct Shared {
    /// What earlier checks have found out.
    pub(super) cache: Arc<SharedCache>,
    /// The user's Python, if files may be executed.
    pub(super) python: Option<std::path::PathBuf>,
}

/// The result of a call. What is wrong with its arguments, and what could not be looked at, are results too, so that an
/// agent reads them.
pub(super) fn call(tool: &Tool, arguments: &Map<String, Value>, shared: &Shared, stop: &Arc<AtomicBool>) -> Value {
    let asked = match read(tool, arguments) {
        Ok(asked) => asked,
        Err(problem) => return failed(&problem),
    };
    let limit = asked.limit;
    match catch_unwind(AssertUnwindSafe(|| answer(asked, shared, stop))) {
        Ok(answer) => result(answer, limit),
        Err(_) => failed("the analysis failed; this is a bug in fencepost, please report it"),
    }
}

/// A result that says what is wrong.
fn failed(problem: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": problem }], "isError": true })
}

/// Runs the command: first for people, then for tools.
fn answer(asked: Asked, shared: &Shared, stop: &Arc<AtomicBool>) -> Answer {
    let (stop, given) = (stop.clone(), asked.given);
    let stopped = || stop.load(Ordering::Relaxed);
    let cancel = Cancel::when(&stopped);
    match asked.command {
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
        Ok((problems, exit)) => {
            let documents = [human, json].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            Answer { documents: documents.to_vec(), problems, exit }
        }
        Err(error) => Answer::trouble(error.to_string()),
    }
}

fn explained(kind: Option<&str>) -> Answer {
    let mut answer = explain::answer(kind);
    let codes = Code::all().filter(|code| kind.is_none_or(|_| Some(*code) == kind.and_then(Code::from_name)));
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

fn result(answer: Answer, limit: usize) -> Value {
    let Answer { documents, problems, exit } = answer;
    let mut documents = documents.into_iter();
    let (mut text, document) = (documents.next().unwrap_or_default(), documents.next());
    let document = document.and_then(|document| serde_json::from_str::<Value>(&document).ok());
    // Nothing of it could be read.
    let files = document.as_ref().and_then(|document| document["files"].as_array());
    let unread = files.is_some_and(|files| !files.is_empty() && files.iter().all(|file| file["problem"].is_object()));
    let nothing = text.is_empty() && document.is_none();
    text = bound::text(&text, limit);
    for problem in &problems {
        text.push_str(problem);
        text.push('\n');
    }
    let mut structured = document.unwrap_or_else(|| json!({}));
    if let Some(members) = structured.as_object_mut() {
        members.insert("exitCode".to_owned(), json!(exit as u8));
    }
    let mut result = json!({
        "content": [{ "type": "text", "text": text }],
        "isError": exit == Exit::Trouble && (nothing || unread),
    });
    if !nothing {
        result["structuredContent"] = bound::document(structured, limit.saturating_mul(2));
    }
    result
}
