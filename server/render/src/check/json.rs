//! The JSON document, schema 1: members may be added, none is taken away.
//!
//! `{"schema": 1, "tool": …, "positionEncoding": "utf-16", "files": [file]}`, one file a line.
//! Lines and characters count from 0, characters in UTF-16 code units, as LSP does by default.
//! A file that cannot be read has a `problem`; a text that does not parse has `errors`; both are
//! `undecided` unless something was found. `problems` is what Triton would refuse of a Python file, and what
//! is wrong with what is written for us in it; a finding's `context` are the calls that lead to it. With `--explain-proof` a kernel has a `proof`: the runs
//! made, the loops closed with `warmUp` and `period` in iterations, what was `assumed`, and what
//! keeps it `open`.

use base::TextRange;
use findings::{Finding, Fix, KernelReport, Note, Proof, ProofReason, Suppressed, SuppressedBy, TextProblem};
use serde::Serialize;
use ttgir::SyntaxError;

use crate::SourceText;
use crate::check::{CheckedFile, FileOutput, Printer, StaleEntry, Tally, fingerprint};
use crate::document::{Input, Position, Range, TOOL};
use crate::report::json::reasons;

/// Prints the document.
pub struct Json;

impl Printer for Json {
    fn begin(&self) -> String {
        let tool = serde_json::to_string(&TOOL).unwrap_or_default();
        format!("{{\"schema\":1,\"tool\":{tool},\"positionEncoding\":\"utf-16\",\"files\":[\n")
    }

    fn file(&self, file: &CheckedFile) -> FileOutput {
        // The types below have string keys and finite numbers only: this cannot fail.
        FileOutput {
            body: serde_json::to_string(&FileJson::of(file)).unwrap_or_default(),
            notifications: String::new(),
        }
    }

    fn separator(&self) -> &'static str {
        ",\n"
    }

    fn end(&self, tally: &Tally, _: &[String]) -> String {
        let stale: Vec<StaleJson<'_>> = tally.stale.iter().map(StaleJson::of).collect();
        let stale = if stale.is_empty() {
            String::new()
        } else {
            format!(",\"staleBaseline\":{}", serde_json::to_string(&stale).unwrap_or_default())
        };
        format!("\n]{stale}}}\n")
    }
}

/// What `fencepost check --format json` prints, one file a line. Members may be added, none is taken away. Lines and
/// characters count from 0, characters in UTF-16 code units.
#[cfg(test)]
#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document<'a> {
    /// 1
    schema: u32,
    tool: crate::document::Tool,
    /// `utf-16`
    position_encoding: &'a str,
    files: Vec<FileJson<'a>>,
    /// Entries of the baseline for which there is no finding any more
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stale_baseline: Vec<StaleJson<'a>>,
    /// What `fencepost run` says beside the findings
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<serde_json::Map<String, serde_json::Value>>,
}

/// An entry of a baseline
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct StaleJson<'a> {
    path: &'a str,
    text: &'a str,
}

impl<'a> StaleJson<'a> {
    fn of(entry: &'a StaleEntry) -> StaleJson<'a> {
        StaleJson { path: &entry.path, text: &entry.text }
    }
}

/// A file that was named or found
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct FileJson<'a> {
    path: &'a str,
    /// The worst verdict of its kernels; `none` where it has none
    #[cfg_attr(test, schemars(extend("enum" = ["proved", "clean", "found", "undecided", "none"])))]
    verdict: &'a str,
    kernels: Vec<KernelJson<'a>>,
    findings: Vec<FindingJson<'a>>,
    /// Findings that are not to be shown; their kernels are `found` all the same
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressed: Vec<SuppressedJson<'a>>,
    /// Syntax errors of TTGIR
    errors: Vec<ErrorJson<'a>>,
    /// What Triton would refuse of a Python file, and what is wrong with what is written for fencepost in it
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<RefusedJson<'a>>,
    /// What was left out, one sentence each
    skipped: &'a [String],
    /// The release of Triton that its kernels were analysed for
    #[serde(skip_serializing_if = "Option::is_none")]
    triton: Option<TritonJson<'a>>,
    /// With --changed-since: nothing that concerns the file has changed, and it was not looked at
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unchanged: bool,
    /// With --changed-since: the kernels that were not looked at
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    left_out: &'a [String],
    /// How many of its `problems` are in the baseline and not listed
    #[serde(skip_serializing_if = "is_zero")]
    known_problems: usize,
    /// Why the file could not be read
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<ProblemJson<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct TritonJson<'a> {
    version: &'a str,
    /// Who says so: the command line, `fencepost.toml`, an environment, or nobody
    source: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct KernelJson<'a> {
    name: &'a str,
    #[cfg_attr(test, schemars(extend("enum" = ["proved", "clean", "found", "undecided"])))]
    verdict: &'a str,
    reasons: Vec<&'a str>,
    range: Range,
    /// How many of its findings are not shown
    #[serde(skip_serializing_if = "is_zero")]
    suppressed: usize,
    /// Of an undecided kernel in Python: the line above it that would decide it
    #[serde(skip_serializing_if = "Option::is_none")]
    pin: Option<PinJson<'a>>,
    /// Whether programs race in global memory; absent where the kernel writes none
    #[serde(skip_serializing_if = "Option::is_none")]
    global: Option<GlobalJson<'a>>,
    /// With --explain-proof: what the verdict rests on
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<ProofJson<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct GlobalJson<'a> {
    #[cfg_attr(test, schemars(extend("enum" = ["proved", "clean", "found", "undecided"])))]
    verdict: &'a str,
    reasons: Vec<&'a str>,
    /// What the verdict rests on beside the text
    assumed: Vec<&'a str>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PinJson<'a> {
    /// `# fencepost: layout=?, num_slots=2`
    line: &'a str,
    /// The parameters behind which a `?` waits for a value
    open: &'a [String],
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct ProofJson<'a> {
    /// Choices of inputs that were run
    valuations: usize,
    /// Whether there are more choices than were run
    cut: bool,
    runs: u32,
    steps: u64,
    states: u64,
    /// Loops whose state repeats
    loops: Vec<LoopJson<'a>>,
    /// What was assumed
    assumed: Vec<ReasonJson<'a>>,
    /// What keeps the verdict open
    open: Vec<ReasonJson<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct LoopJson<'a> {
    range: Range,
    op: &'a str,
    /// Iterations before the state repeats
    warm_up: u64,
    /// Iterations after which it repeats
    period: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ReasonJson<'a> {
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Range>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FindingJson<'a> {
    kind: &'a str,
    /// The same in every text of the file in which the finding is, wherever its lines move
    fingerprint: String,
    severity: &'a str,
    message: &'a str,
    kernel: &'a str,
    range: Range,
    sites: Vec<SiteJson<'a>>,
    /// The calls that lead there, in Python
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context: Vec<SiteJson<'a>>,
    /// The steps that lead there
    run: Vec<StepJson<'a>>,
    inputs: Vec<Input<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<FixJson<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SuppressedJson<'a> {
    finding: FindingJson<'a>,
    /// Why
    reason: &'a str,
    /// Who says so: a comment in the text, a baseline file, or the settings
    #[cfg_attr(test, schemars(extend("enum" = ["comment", "baseline", "settings"])))]
    by: &'a str,
    /// The comment
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<Range>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SiteJson<'a> {
    range: Range,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    primary: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct StepJson<'a> {
    partition: &'a str,
    range: Range,
    text: &'a str,
    /// Index in `sites`, for a step that is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<usize>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FixJson<'a> {
    title: &'a str,
    edits: Vec<EditJson<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct EditJson<'a> {
    range: Range,
    new_text: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ErrorJson<'a> {
    code: &'a str,
    message: &'a str,
    range: Range,
    related: Vec<RelatedJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<&'a str>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RefusedJson<'a> {
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    range: Range,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<FixJson<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RelatedJson<'a> {
    range: Range,
    text: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ProblemJson<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<Position>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl<'a> FileJson<'a> {
    fn of(file: &'a CheckedFile) -> FileJson<'a> {
        let places = SourceText::new(&file.text);
        let refused = file.result.iter().flat_map(|analysis| &analysis.problems);
        let problems = refused.map(|problem| RefusedJson::of(problem, &places)).collect();
        let (kernels, errors, skipped, problem) = match &file.result {
            Ok(analysis) => (
                analysis
                    .kernels
                    .iter()
                    .enumerate()
                    .map(|(at, kernel)| KernelJson::of(kernel, file.proofs.get(at), &places))
                    .collect(),
                analysis.syntax.iter().map(|error| ErrorJson::of(error, &places)).collect(),
                analysis.skipped.as_slice(),
                None,
            ),
            Err(trouble) => {
                let position = trouble.position.map(|at| Position { line: at.line - 1, character: at.utf16 - 1 });
                (Vec::new(), Vec::new(), [].as_slice(), Some(ProblemJson { message: &trouble.message, position }))
            }
        };
        let python = file.is_python();
        let findings = file.findings().map(|finding| FindingJson::of(finding, &places, python)).collect();
        let suppressed = file.suppressed().map(|it| SuppressedJson::of(it, &places, python)).collect();
        let triton = file.result.as_ref().ok().and_then(|analysis| analysis.triton.as_ref());
        let triton = triton.map(|it| TritonJson { version: &it.version, source: &it.source });
        let verdict = file.verdict();
        let path = file.path.as_str();
        let (unchanged, left_out) = (file.is_unchanged(), file.left_out());
        let known_problems = file.result.as_ref().map_or(0, |analysis| analysis.known_problems);
        FileJson {
            path,
            verdict,
            kernels,
            findings,
            suppressed,
            errors,
            problems,
            skipped,
            triton,
            unchanged,
            left_out,
            known_problems,
            problem,
        }
    }
}

impl<'a> KernelJson<'a> {
    fn of(kernel: &'a KernelReport, proof: Option<&'a Proof>, places: &SourceText<'_>) -> KernelJson<'a> {
        KernelJson {
            name: &kernel.name,
            verdict: kernel.verdict.name(),
            reasons: reasons(&kernel.verdict),
            range: range(places, kernel.range),
            suppressed: kernel.suppressed.len(),
            pin: kernel.pin.as_ref().map(|pin| PinJson { line: &pin.line, open: &pin.open }),
            global: kernel.global.as_ref().map(|global| GlobalJson {
                verdict: global.verdict.name(),
                reasons: reasons(&global.verdict),
                assumed: global.assumed.iter().map(String::as_str).collect(),
            }),
            proof: proof.map(|proof| ProofJson::of(proof, places)),
        }
    }
}

impl<'a> ProofJson<'a> {
    fn of(proof: &'a Proof, places: &SourceText<'_>) -> ProofJson<'a> {
        let reasons = |reasons: &'a [ProofReason]| {
            let reasons = reasons.iter();
            reasons.map(|it| ReasonJson { text: &it.text, range: it.range.map(|at| range(places, at)) }).collect()
        };
        let loops = proof.loops.iter().map(|closed| LoopJson {
            range: range(places, closed.range),
            op: &closed.op,
            warm_up: closed.warm_up,
            period: closed.period,
        });
        ProofJson {
            valuations: proof.valuations,
            cut: proof.cut,
            runs: proof.runs,
            steps: proof.steps,
            states: proof.states,
            loops: loops.collect(),
            assumed: reasons(&proof.assumed),
            open: reasons(&proof.open),
        }
    }
}

impl<'a> FindingJson<'a> {
    fn of(finding: &'a Finding, places: &SourceText<'_>, python: bool) -> FindingJson<'a> {
        let sites = finding.sites.iter();
        let run = finding.run.iter();
        FindingJson {
            kind: finding.kind.name(),
            fingerprint: fingerprint::of_finding(finding, places.text(), python),
            severity: finding.severity.name(),
            message: &finding.message,
            kernel: &finding.kernel,
            range: range(places, finding.range),
            sites: sites.map(|site| SiteJson::of(site, places)).collect(),
            context: finding.context.iter().map(|call| SiteJson::of(call, places)).collect(),
            run: run
                .map(|step| StepJson {
                    partition: &step.partition,
                    range: range(places, step.range),
                    text: &step.text,
                    site: step.site,
                })
                .collect(),
            inputs: Input::all(&finding.inputs),
            fix: finding.fix.as_ref().map(|fix| FixJson::of(fix, places)),
        }
    }
}

impl<'a> SuppressedJson<'a> {
    fn of(it: &'a Suppressed, places: &SourceText<'_>, python: bool) -> SuppressedJson<'a> {
        let (by, comment) = match it.by {
            SuppressedBy::Comment(at) => ("comment", Some(range(places, at))),
            SuppressedBy::Baseline => ("baseline", None),
            SuppressedBy::Settings => ("settings", None),
        };
        let finding = FindingJson::of(&it.finding, places, python);
        SuppressedJson { finding, reason: &it.reason, by, comment }
    }
}

impl<'a> SiteJson<'a> {
    fn of(site: &'a Note, places: &SourceText<'_>) -> SiteJson<'a> {
        let (text, source) = (site.text.as_str(), site.source.as_deref());
        SiteJson { range: range(places, site.range), text, source, primary: site.primary }
    }
}

impl<'a> FixJson<'a> {
    fn of(fix: &'a Fix, places: &SourceText<'_>) -> FixJson<'a> {
        let edits = fix.edits.iter().map(|edit| EditJson { range: range(places, edit.range), new_text: &edit.text });
        FixJson { title: &fix.title, edits: edits.collect() }
    }
}

impl<'a> RefusedJson<'a> {
    fn of(problem: &'a TextProblem, places: &SourceText<'_>) -> RefusedJson<'a> {
        RefusedJson {
            code: problem.code,
            severity: problem.severity.name(),
            message: &problem.message,
            range: range(places, problem.range),
            source: problem.source.as_deref(),
            fix: problem.fix.as_ref().map(|fix| FixJson::of(fix, places)),
        }
    }
}

impl<'a> ErrorJson<'a> {
    fn of(error: &'a SyntaxError, places: &SourceText<'_>) -> ErrorJson<'a> {
        ErrorJson {
            code: error.code,
            message: &error.message,
            range: range(places, error.range),
            related: error.related.iter().map(|(at, text)| RelatedJson { range: range(places, *at), text }).collect(),
            suggestion: error.suggestion.as_deref(),
        }
    }
}

fn range(places: &SourceText<'_>, range: TextRange) -> Range {
    Range::new(range, &|offset| places.utf16(offset))
}
