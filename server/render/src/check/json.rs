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
use findings::{Finding, Fix, KernelReport, Note, Problem, Proof, Reason, Verdict};
use serde::Serialize;
use ttgir::SyntaxError;

use crate::SourceText;
use crate::check::{CheckedFile, FileOutput, Printer, Tally};

/// Prints the document.
pub struct Json;

impl Printer for Json {
    fn begin(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        format!(
            "{{\"schema\":1,\"tool\":{{\"name\":\"fencepost\",\"version\":\"{version}\"}},\
             \"positionEncoding\":\"utf-16\",\"files\":[\n"
        )
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

    fn end(&self, _: &Tally, _: &[String]) -> String {
        "\n]}\n".to_owned()
    }
}

#[derive(Serialize)]
struct FileJson<'a> {
    path: &'a str,
    verdict: &'a str,
    kernels: Vec<KernelJson<'a>>,
    findings: Vec<FindingJson<'a>>,
    errors: Vec<ErrorJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<RefusedJson<'a>>,
    skipped: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<ProblemJson<'a>>,
}

#[derive(Serialize)]
struct KernelJson<'a> {
    name: &'a str,
    verdict: &'a str,
    reasons: Vec<&'a str>,
    range: RangeJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<ProofJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProofJson<'a> {
    valuations: usize,
    cut: bool,
    runs: u32,
    steps: u64,
    states: u64,
    loops: Vec<LoopJson<'a>>,
    assumed: Vec<ReasonJson<'a>>,
    open: Vec<ReasonJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LoopJson<'a> {
    range: RangeJson,
    op: &'a str,
    warm_up: u64,
    period: u64,
}

#[derive(Serialize)]
struct ReasonJson<'a> {
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<RangeJson>,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    kind: &'a str,
    severity: &'a str,
    message: &'a str,
    kernel: &'a str,
    range: RangeJson,
    sites: Vec<SiteJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context: Vec<SiteJson<'a>>,
    run: Vec<StepJson<'a>>,
    inputs: Vec<InputJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<FixJson<'a>>,
}

#[derive(Serialize)]
struct SiteJson<'a> {
    range: RangeJson,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    primary: bool,
}

#[derive(Serialize)]
struct StepJson<'a> {
    partition: &'a str,
    range: RangeJson,
    text: &'a str,
    /// Index in `sites`, for a step that is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<usize>,
}

#[derive(Serialize)]
struct InputJson<'a> {
    name: &'a str,
    value: i64,
}

#[derive(Serialize)]
struct FixJson<'a> {
    title: &'a str,
    edits: Vec<EditJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EditJson<'a> {
    range: RangeJson,
    new_text: &'a str,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    code: &'a str,
    message: &'a str,
    range: RangeJson,
    related: Vec<RelatedJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<&'a str>,
}

#[derive(Serialize)]
struct RefusedJson<'a> {
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    range: RangeJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<FixJson<'a>>,
}

#[derive(Serialize)]
struct RelatedJson<'a> {
    range: RangeJson,
    text: &'a str,
}

#[derive(Serialize)]
struct ProblemJson<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<PositionJson>,
}

#[derive(Serialize)]
struct RangeJson {
    start: PositionJson,
    end: PositionJson,
}

#[derive(Serialize)]
struct PositionJson {
    line: u32,
    character: u32,
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
                let position = trouble.position.map(|at| PositionJson { line: at.line - 1, character: at.utf16 - 1 });
                (Vec::new(), Vec::new(), [].as_slice(), Some(ProblemJson { message: &trouble.message, position }))
            }
        };
        let findings = file.findings().map(|finding| FindingJson::of(finding, &places)).collect();
        FileJson { path: &file.path, verdict: file.verdict(), kernels, findings, errors, problems, skipped, problem }
    }
}

impl<'a> KernelJson<'a> {
    fn of(kernel: &'a KernelReport, proof: Option<&'a Proof>, places: &SourceText<'_>) -> KernelJson<'a> {
        let reasons = match &kernel.verdict {
            Verdict::Proved(how) | Verdict::Clean(how) => vec![how.as_str()],
            Verdict::Found => Vec::new(),
            Verdict::Undecided(why) => why.iter().map(String::as_str).collect(),
        };
        KernelJson {
            name: &kernel.name,
            verdict: kernel.verdict.name(),
            reasons,
            range: range(places, kernel.range),
            proof: proof.map(|proof| ProofJson::of(proof, places)),
        }
    }
}

impl<'a> ProofJson<'a> {
    fn of(proof: &'a Proof, places: &SourceText<'_>) -> ProofJson<'a> {
        let reasons = |reasons: &'a [Reason]| {
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
    fn of(finding: &'a Finding, places: &SourceText<'_>) -> FindingJson<'a> {
        let sites = finding.sites.iter();
        let run = finding.run.iter();
        FindingJson {
            kind: finding.kind.name(),
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
            inputs: finding.inputs.iter().map(|(name, value)| InputJson { name, value: *value }).collect(),
            fix: finding.fix.as_ref().map(|fix| FixJson::of(fix, places)),
        }
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
    fn of(problem: &'a Problem, places: &SourceText<'_>) -> RefusedJson<'a> {
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

fn range(places: &SourceText<'_>, range: TextRange) -> RangeJson {
    let position = |offset| {
        let (line, character) = places.utf16(offset);
        PositionJson { line, character }
    };
    RangeJson { start: position(range.start), end: position(range.end) }
}
