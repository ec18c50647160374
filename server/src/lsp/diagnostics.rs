//! An analysis as diagnostics.
//!
//! Related information is first the finding's numbered sites, then the end of its run, both in
//! the order in which they happen. What could not be decided is said at the kernel's name, so that
//! no mark never means "not looked at".

use engine::suppress::UNUSED;
use engine::{Analysis, Depth, Source};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use ttgir::SyntaxError;

use base::TextRange;
use findings::{Finding, KernelReport, Severity, SuppressedBy, TextProblem};
use ropey::Rope;
use rustc_hash::FxHasher;
use serde_json::json;
use settings::FILE;
use tower_lsp::ls_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticTag, NumberOrString, Uri,
};

use super::document::InterimFindings;
use super::last_good::LastGood;
use super::snapshot::{DocumentAnalysis, Snapshot, WrongSettings};
use super::to_proto;
use render::check::{SUPPRESSED, UNDECIDED, undecided};
use render::lanes;
use workspace::{Configuration, Dependencies, settings_problems};

/// Steps of the run among the related places; all of them are in `fencepost/run`.
const RUN_STEPS: usize = 12;

const SOURCE: &str = "fencepost";

/// Why there is no full analysis.
pub(crate) enum CutOff {
    /// The user stopped it.
    Stopped,
    /// It panicked, with this text.
    Failed(String),
    /// The text is not the client's, and why.
    OutOfSync(String),
}

/// An outcome with its diagnostics.
///
/// `dependencies` are the files that it looked at, where that is known.
pub(crate) fn document_analysis(
    snapshot: &Snapshot,
    analysis: Analysis,
    dependencies: Option<Dependencies>,
    cut: Option<CutOff>,
) -> DocumentAnalysis {
    let mut diagnostics: Vec<Diagnostic> = cut.map(|cut| cut_off(snapshot, &cut)).into_iter().collect();
    diagnostics.extend(of_analysis(snapshot, &analysis, &|_| false));
    DocumentAnalysis::new(analysis, dependencies, diagnostics)
}

/// The same, with what was found in earlier texts in the kernels that could not be judged in this one.
pub(crate) fn with_last_good(snapshot: &Snapshot, known: &DocumentAnalysis, last_good: &LastGood) -> DocumentAnalysis {
    let mut shown = known.analysis.clone();
    last_good.fill(&mut shown, &|_| false, false);
    let diagnostics = of_analysis(snapshot, &shown, &|_| false);
    let made = DocumentAnalysis::new(known.analysis.clone(), known.dependencies.clone(), diagnostics);
    DocumentAnalysis { wrong_settings: known.wrong_settings.clone(), ..made }
}

/// What there is to show while an analysis goes on: what it has found, and for the rest what was found in earlier
/// texts.
pub(crate) fn interim(snapshot: &Snapshot, found: &InterimFindings, last_good: &LastGood) -> DocumentAnalysis {
    let (mut kernels, mut open) = (Vec::new(), Vec::new());
    for (depth, report) in found.kernels.values() {
        open.push(*depth != Depth::Full);
        kernels.push(report.clone());
    }
    let is_open = |at: usize| open.get(at).copied().unwrap_or(true);
    let mut shown = Analysis { kernels, syntax: found.syntax.clone(), ..Analysis::default() };
    last_good.fill(&mut shown, &is_open, true);
    let diagnostics = of_analysis(snapshot, &shown, &is_open);
    DocumentAnalysis::new(Analysis::default(), None, diagnostics)
}

/// What there is to show of an analysis that the user has stopped.
pub(crate) fn stopped(snapshot: &Snapshot, found: &InterimFindings, last_good: &LastGood) -> DocumentAnalysis {
    let mut diagnostics = vec![cut_off(snapshot, &CutOff::Stopped)];
    diagnostics.extend(interim(snapshot, found, last_good).diagnostics);
    DocumentAnalysis::new(Analysis::default(), None, diagnostics)
}

/// The diagnostics of an analysis; `is_open` tells of which kernels it is not known yet whether they are decided.
/// Whether a document is an earlier version of a file, as a view of differences opens it: nobody mends it there.
fn is_history(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("git"))
}

fn of_analysis(snapshot: &Snapshot, analysis: &Analysis, is_open: &dyn Fn(usize) -> bool) -> Vec<Diagnostic> {
    if is_history(snapshot.uri.as_str()) {
        return Vec::new();
    }
    let mut diagnostics: Vec<Diagnostic> = analysis.syntax.iter().map(|error| syntax(snapshot, error)).collect();
    diagnostics.extend(analysis.problems.iter().map(|problem| self::problem(snapshot, problem)));
    for (at, kernel) in analysis.kernels.iter().enumerate() {
        diagnostics.extend(kernel.findings.iter().map(|finding| diagnostic(snapshot, finding)));
        if let Some(message) = undecided(kernel).filter(|_| !is_open(at)) {
            diagnostics.push(open(snapshot, kernel.range, message));
        }
        diagnostics.extend(switched_off(snapshot, kernel));
    }
    diagnostics
}

impl DocumentAnalysis {
    fn new(analysis: Analysis, dependencies: Option<Dependencies>, diagnostics: Vec<Diagnostic>) -> DocumentAnalysis {
        // Hints name the instances, and are asked for again with the diagnostics.
        let mut hasher = FxHasher::default();
        let kernels = analysis.gluon.iter().flat_map(|elaboration| &elaboration.kernels);
        kernels.flat_map(|kernel| &kernel.instances).for_each(|it| it.instance.hint.hash(&mut hasher));
        let (result_id, instances) = (result_id(&diagnostics), hasher.finish());
        DocumentAnalysis { analysis, dependencies, diagnostics, result_id, instances, wrong_settings: None }
    }
}

/// A name of what diagnostics say.
pub(crate) fn result_id(diagnostics: &[Diagnostic]) -> String {
    let mut hasher = FxHasher::default();
    serde_json::to_string(diagnostics).unwrap_or_default().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// A finding.
pub(crate) fn diagnostic(snapshot: &Snapshot, finding: &Finding) -> Diagnostic {
    let client = &snapshot.client;
    let with = lanes::inputs(&finding.inputs);
    let mut message = finding.message.clone();
    if !with.is_empty() {
        message = format!("{message} ({with})");
    }
    let mut related = related(snapshot, finding);
    if !client.related_information {
        // A client that shows no related places gets them as text.
        for place in related.drain(..) {
            message.push_str(&format!("\n  line {}: {}", place.location.range.start.line + 1, place.message));
        }
    }
    let name = finding.kind.name();
    Diagnostic {
        range: snapshot.mapper().range(finding.range),
        severity: Some(to_proto::severity(finding.severity)),
        code: Some(NumberOrString::String(name.to_owned())),
        code_description: link(snapshot, name),
        source: Some(SOURCE.to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: None,
        data: client
            .diagnostic_data
            .then(|| json!({ "kind": name, "kernel": finding.kernel, "fix": finding.fix.is_some() })),
    }
}

fn related(snapshot: &Snapshot, finding: &Finding) -> Vec<DiagnosticRelatedInformation> {
    let place =
        |range, message| DiagnosticRelatedInformation { location: to_proto::location(snapshot, range), message };
    let mut places = Vec::new();
    if finding.sites.len() > 1 || finding.sites.iter().any(|site| !site.primary) {
        let numbered = finding.sites.iter().enumerate();
        places.extend(numbered.map(|(at, site)| {
            let source = site.source.as_ref().map_or_else(String::new, |source| format!(" ({source})"));
            place(site.range, format!("({}) {}{source}", at + 1, site.text))
        }));
    }
    places.extend(finding.context.iter().map(|call| place(call.range, call.text.clone())));
    let hidden = finding.run.len().saturating_sub(RUN_STEPS);
    for (at, step) in finding.run.iter().enumerate().skip(hidden) {
        places.push(place(step.range, format!("step {}, {}: {}", at + 1, step.partition, step.text)));
    }
    places
}

/// What there is to push of the settings that hold for a document; `None` where nothing is wrong with them.
pub(crate) fn wrong_settings(snapshot: &Snapshot, configuration: &Configuration) -> Option<WrongSettings> {
    if configuration.problems.is_empty() {
        return None;
    }
    let uri = Uri::from_file_path(configuration.folder.as_ref()?.join(FILE))?;
    let text = configuration.wrong.clone().unwrap_or_default();
    let problems = match &configuration.wrong {
        Some(text) => settings_problems(text),
        None => configuration.problems.clone(),
    };
    let rope = Rope::from_str(&text);
    let file = Snapshot { uri: uri.clone(), rope, source: Arc::new(Source::Other(text)), ..snapshot.clone() };
    let diagnostics = problems.iter().map(|wrong| problem(&file, wrong)).collect();
    Some(WrongSettings { uri, diagnostics })
}

/// What Triton would refuse, or what is wrong with what is written for us.
pub(crate) fn problem(snapshot: &Snapshot, problem: &TextProblem) -> Diagnostic {
    // Every editor has somebody who says what is wrong with Python; what follows from it is what we say.
    let syntax = problem.code == TextProblem::SYNTAX;
    let severity = match problem.code {
        _ if syntax => Severity::Information,
        // Files of helpers are looked at all day.
        TextProblem::UNREAD => Severity::Hint,
        _ => problem.severity,
    };
    let message = match &problem.source {
        Some(source) if !problem.message.contains(source.as_str()) => format!("{} ({source})", problem.message),
        _ => problem.message.clone(),
    };
    Diagnostic {
        range: snapshot.mapper().range(problem.range),
        severity: Some(to_proto::severity(severity)),
        code: Some(NumberOrString::String(problem.code.to_owned())),
        code_description: link(snapshot, problem.code),
        source: Some(SOURCE.to_owned()),
        message: if syntax { format!("does not parse: {message}") } else { message },
        tags: (problem.code == UNUSED).then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..Diagnostic::default()
    }
}

/// A text that does not parse.
pub(crate) fn syntax(snapshot: &Snapshot, error: &SyntaxError) -> Diagnostic {
    let related: Vec<DiagnosticRelatedInformation> = error
        .related
        .iter()
        .filter(|_| snapshot.client.related_information)
        .map(|(range, text)| DiagnosticRelatedInformation {
            location: to_proto::location(snapshot, *range),
            message: text.clone(),
        })
        .collect();
    Diagnostic {
        range: snapshot.mapper().range(error.range),
        severity: Some(to_proto::severity(Severity::Error)),
        code: Some(NumberOrString::String(error.code.to_owned())),
        code_description: link(snapshot, error.code),
        source: Some(SOURCE.to_owned()),
        message: error.message.clone(),
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    }
}

fn cut_off(snapshot: &Snapshot, cut: &CutOff) -> Diagnostic {
    let first_line = snapshot.source.text().lines().next().unwrap_or("");
    let range = TextRange::new(0, first_line.trim_end().len() as u32);
    match cut {
        CutOff::Stopped => open(snapshot, range, "not decided: the analysis was stopped; edit to restart it".into()),
        CutOff::Failed(text) => {
            let message = format!("not decided: {text}; this is a bug in fencepost, please report it");
            Diagnostic { severity: Some(to_proto::severity(Severity::Error)), ..open(snapshot, range, message) }
        }
        CutOff::OutOfSync(why) => {
            let message =
                format!("not decided: the text is not known any more ({why}); close the file and open it again");
            let start = TextRange::new(0, 0);
            Diagnostic { severity: Some(to_proto::severity(Severity::Warning)), ..open(snapshot, start, message) }
        }
    }
}

fn open(snapshot: &Snapshot, range: TextRange, message: String) -> Diagnostic {
    let name = UNDECIDED;
    Diagnostic {
        range: snapshot.mapper().range(range),
        severity: Some(to_proto::severity(Severity::Information)),
        code: Some(NumberOrString::String(name.to_owned())),
        code_description: link(snapshot, name),
        source: Some(SOURCE.to_owned()),
        message,
        ..Diagnostic::default()
    }
}

/// That findings of a kernel are off in the settings: no mark never means that there is none. Who writes a comment sees
/// it where it stands; settings are in another file.
fn switched_off(snapshot: &Snapshot, kernel: &KernelReport) -> Option<Diagnostic> {
    let off = kernel.suppressed.iter().filter(|it| it.by == SuppressedBy::Settings);
    let mut kinds: Vec<&str> = off.clone().map(|it| it.finding.kind.name()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let count = off.count();
    let findings = if count == 1 { "finding is" } else { "findings are" };
    let message = format!("{count} {findings} switched off by the settings: {}", kinds.join(", "));
    (count > 0).then(|| Diagnostic {
        severity: Some(to_proto::severity(Severity::Hint)),
        code: Some(NumberOrString::String(SUPPRESSED.to_owned())),
        code_description: link(snapshot, SUPPRESSED),
        ..open(snapshot, kernel.range, message)
    })
}

fn link(snapshot: &Snapshot, kind: &str) -> Option<CodeDescription> {
    let href = to_proto::explain_link(kind).filter(|_| snapshot.client.code_links)?;
    Some(CodeDescription { href })
}
