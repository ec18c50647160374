//! What all drawings of a run share: its heading, its lines, and what of it is drawn.

use findings::{Finding, KernelReport, Verdict};
use report::Report;
use report::timeline::{Folded, FoldedSteps, Step, Stretch, Timeline, TimelineRow};

use crate::SourceText;
use crate::lanes;

/// Bands that are drawn at most before those of no concern are left out.
const BANDS: usize = 24;
/// The same for slots.
const SLOTS: usize = 12;

/// What stands above a run.
pub struct TraceHeading<'a> {
    /// `finding 1 of 2: deadlock`, or `kernel @f is proved`.
    pub title: String,
    /// One sentence.
    pub message: String,
    /// `file:line:column, kernel @f`.
    pub place: String,
    /// `with %K = 192`; may be empty.
    pub with: String,
    /// The finding, where it is one.
    pub finding: Option<&'a Finding>,
}

impl<'a> TraceHeading<'a> {
    /// The heading of a finding's run.
    pub fn of_finding(
        path: &str,
        finding: &'a Finding,
        number: usize,
        count: usize,
        places: &SourceText<'_>,
    ) -> TraceHeading<'a> {
        let (line, column) = places.line_column(finding.range.start);
        TraceHeading {
            title: format!("finding {number} of {count}: {}", finding.kind.name()),
            message: finding.message.clone(),
            place: format!("{path}:{line}:{column}, kernel @{}", finding.kernel),
            with: lanes::inputs(&finding.inputs),
            finding: Some(finding),
        }
    }

    /// The heading of a run in a page that says the rest.
    pub fn of_report(report: &'a Report, finding: Option<usize>) -> TraceHeading<'a> {
        let told = finding.and_then(|at| report.findings.get(at));
        let title = match (finding, told) {
            (Some(at), Some(told)) => format!("finding {}: {}", at + 1, told.kind.name()),
            _ => format!("kernel @{}, a run in which nothing is wrong", report.kernel),
        };
        let message = told.map_or_else(String::new, |finding| finding.message.clone());
        TraceHeading { title, message, place: String::new(), with: String::new(), finding: told }
    }

    /// The heading of a kernel's run.
    pub fn of_kernel(path: &str, report: &KernelReport, places: &SourceText<'_>) -> TraceHeading<'a> {
        let how = match &report.verdict {
            Verdict::Proved(how) | Verdict::Clean(how) => how.clone(),
            Verdict::Undecided(why) => why.join("; "),
            Verdict::Found => String::new(),
        };
        let line = places.line(report.range.start);
        TraceHeading {
            title: format!("kernel @{} is {}", report.name, report.verdict.name()),
            message: how,
            place: format!("{path}:{line}"),
            with: String::new(),
            finding: None,
        }
    }
}

/// A run as it is drawn.
pub struct TraceDrawing<'a> {
    /// What stands above it.
    pub heading: TraceHeading<'a>,
    /// The run; `None` for a finding that holds wherever its line is executed.
    pub timeline: Option<Timeline>,
    /// The text.
    pub places: &'a SourceText<'a>,
    /// Lines, from the top.
    pub rows: Vec<TimelineRow>,
    /// The line of each step, by its number less 1.
    row_of: Vec<usize>,
    /// Bands that are drawn where there is a letter for each.
    pub bands: Vec<usize>,
    /// Slots that are drawn.
    pub slots: Vec<usize>,
    /// What the partition of each lane is for; may be empty.
    pub roles: Vec<String>,
    /// Whether it stands in a page that has the text too.
    pub linked: bool,
    /// Whether a picture shows what stands above it: not where its page says that itself.
    pub titled: bool,
}

impl<'a> TraceDrawing<'a> {
    /// Lays out the lines.
    pub fn new(
        timeline: Option<Timeline>,
        heading: TraceHeading<'a>,
        places: &'a SourceText<'a>,
        folded: bool,
    ) -> TraceDrawing<'a> {
        let mut heading = heading;
        let (mut rows, mut bands, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(timeline) = &timeline {
            if heading.with.is_empty() {
                heading.with = lanes::inputs(&timeline.inputs);
            }
            rows = timeline.rows(folded);
            bands = drawn_bands(timeline);
            slots = drawn_slots(timeline);
        }
        let mut row_of = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let steps = match row {
                TimelineRow::Step(_) => 1,
                TimelineRow::Fold(fold) => (fold.to + 1 - fold.from) as usize,
            };
            row_of.extend(std::iter::repeat_n(at, steps));
        }
        TraceDrawing {
            heading,
            timeline,
            places,
            rows,
            row_of,
            bands,
            slots,
            roles: Vec::new(),
            linked: false,
            titled: true,
        }
    }

    /// The line of a step.
    pub fn row(&self, step: u32) -> usize {
        let at = (step as usize).saturating_sub(1);
        self.row_of.get(at).copied().unwrap_or_else(|| self.rows.len().saturating_sub(1))
    }

    /// Whether a step is drawn in a fold only.
    pub fn folds(&self, step: u32) -> bool {
        matches!(self.rows.get(self.row(step)), Some(TimelineRow::Fold(_)))
    }

    /// The line of the text that a step stands on.
    pub fn line(&self, step: &Step) -> u32 {
        self.places.line(step.range.start)
    }

    /// The number to write at a step that is one of several sites.
    pub fn site(&self, step: &Step) -> Option<usize> {
        let many = self.heading.finding.is_some_and(|finding| finding.sites.len() > 1);
        step.site.filter(|_| many).map(|site| site + 1)
    }

    /// What was left out of a drawing of so many barriers, one sentence; empty where nothing was.
    pub fn left_out(&self, bands: usize) -> String {
        let Some(timeline) = &self.timeline else { return String::new() };
        let mut parts = Vec::new();
        let bands = timeline.bands.len().saturating_sub(bands);
        let slots = timeline.slots.iter().filter(|slot| slot.concerned).count().saturating_sub(self.slots.len());
        if bands > 0 {
            parts.push(format!("{bands} more barriers"));
        }
        if slots > 0 {
            parts.push(format!("{slots} more buffers"));
        }
        if parts.is_empty() { String::new() } else { format!("not drawn: {}", parts.join(", ")) }
    }
}

/// All bands, or where they are many those that the finding or a told step is about.
fn drawn_bands(timeline: &Timeline) -> Vec<usize> {
    let all: Vec<usize> = (0..timeline.bands.len()).collect();
    if all.len() <= BANDS {
        return all;
    }
    let told = |step: u32| timeline.step(step).is_some_and(|step| step.told);
    let concerned = |at: &usize| {
        let band = &timeline.bands[*at];
        band.concerned || band.ticks.iter().any(|tick| told(tick.step))
    };
    let (mut some, rest): (Vec<usize>, Vec<usize>) = all.into_iter().partition(concerned);
    some.truncate(BANDS);
    some.extend(rest.into_iter().take(BANDS - some.len()));
    some.sort_unstable();
    some
}

fn drawn_slots(timeline: &Timeline) -> Vec<usize> {
    (0..timeline.slots.len()).filter(|&at| timeline.slots[at].concerned).take(SLOTS).collect()
}

/// What a fold stands for.
pub(super) fn folded(fold: &FoldedSteps) -> String {
    let (from, to) = (fold.from, fold.to);
    match fold.what {
        Folded::SetUp => format!("steps {from} to {to} allocate memory and initialise barriers"),
        Folded::Repeats { times: 1 } => format!("steps {from} to {to} do the same once more"),
        Folded::Repeats { times } => format!("steps {from} to {to} do the same {times} times more"),
    }
}

/// A step in few words.
pub(super) fn words(step: &Step) -> String {
    let (verb, brief) = (step.verb, step.brief.as_str());
    match verb {
        _ if step.stuck => format!("{verb} {brief}: does not pass"),
        _ if brief.is_empty() => verb.to_owned(),
        // What is done is said with the places.
        "read" | "write" | "update" => brief.to_owned(),
        _ => format!("{verb} {brief}"),
    }
}

/// What the steps of a stretch do: `12 wait, 9 arrive`.
pub(super) fn does(timeline: &Timeline, stretch: Stretch) -> String {
    let mut verbs: Vec<(&str, usize)> = Vec::new();
    for step in (stretch.from..=stretch.to).filter_map(|number| timeline.step(number)) {
        match verbs.iter_mut().find(|it| it.0 == step.verb) {
            Some(it) => it.1 += 1,
            None => verbs.push((step.verb, 1)),
        }
    }
    verbs.sort_by_key(|it| std::cmp::Reverse(it.1));
    let verbs: Vec<String> = verbs.into_iter().map(|(verb, count)| format!("{count} {verb}")).collect();
    verbs.join(", ")
}
