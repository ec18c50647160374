//! The steps of a run, for clients that go through them: where each is, and what barriers count after it.

use findings::Finding;
use render::report::html::{self, HtmlFragment};
use render::trace::TraceDrawing;
use render::trace::states::{self, BarrierLife, BarrierState};
use report::timeline::{Step, Timeline};
use serde::Serialize;
use tower_lsp::ls_types::Location;

use crate::limits::shown::RUN_STEPS as STEPS;
use crate::lsp::snapshot::Snapshot;
use crate::lsp::to_proto;

/// A run that can be gone through.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SteppedRun {
    /// The version of the document that it is about.
    version: i32,
    /// Name of the kernel.
    kernel: String,
    /// The steps to stop at: of a finding those that it tells, else those that show what the kernel does.
    steps: Vec<RunStep>,
    /// How many steps the whole run has; 0 where there is no run but a list of places.
    length: usize,
    /// All barriers with what they count over the whole run.
    barriers: Vec<BarrierLife>,
    /// The swim lanes, where they were asked for; each step is a link to its line, and has its number in `data-step`.
    picture: Option<HtmlFragment>,
}

/// One step.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RunStep {
    /// The partition that acts.
    partition: String,
    /// The op.
    location: Location,
    /// What happens.
    text: String,
    /// Its number in the whole run, from 1; `None` where there is no run.
    number: Option<u32>,
    /// Which of the finding's numbered places it is, from 1.
    site: Option<usize>,
    /// What in one word: `wait`, `arrive`, `copy`.
    verb: &'static str,
    /// Whether it is not taken: the run ends, and the partition stands here.
    stuck: bool,
    /// The barriers after it, those that were initialised by then.
    barriers: Vec<BarrierState>,
}

impl SteppedRun {
    /// The run of a finding, or else the one that was drawn.
    pub(super) fn new(
        snapshot: &Snapshot,
        kernel: &str,
        finding: Option<&Finding>,
        drawing: &TraceDrawing<'_>,
        picture: bool,
    ) -> SteppedRun {
        let timeline = drawing.timeline.as_ref();
        let all = timeline.map_or(&[][..], |timeline| &timeline.steps);
        let told: Vec<u32> = (1..).zip(all).filter(|(_, step)| step.told).map(|(number, _)| number).collect();
        let steps = match (finding, timeline) {
            (Some(finding), _) => of_finding(snapshot, finding, drawing, &told),
            (None, Some(timeline)) => shown(timeline).filter_map(|number| of_run(snapshot, drawing, number)).collect(),
            (None, None) => Vec::new(),
        };
        SteppedRun {
            version: snapshot.version,
            kernel: kernel.to_owned(),
            steps,
            length: all.len(),
            barriers: timeline.map_or_else(Vec::new, states::lives),
            picture: if picture { html::run(drawing) } else { None },
        }
    }
}

/// What a finding tells; `told` are the numbers of these steps in the whole run.
fn of_finding(snapshot: &Snapshot, finding: &Finding, drawing: &TraceDrawing<'_>, told: &[u32]) -> Vec<RunStep> {
    let matched = told.len() == finding.run.len();
    let steps = finding.run.iter().enumerate().map(|(at, step)| {
        let number = told.get(at).copied().filter(|_| matched);
        let laid_out = number.and_then(|number| drawing.timeline.as_ref()?.step(number));
        RunStep {
            partition: step.partition.clone(),
            location: to_proto::location(snapshot, step.range),
            text: step.text.clone(),
            number,
            site: step.site.map(|site| site + 1),
            verb: laid_out.map_or("", |step| step.verb),
            stuck: laid_out.is_some_and(|step| step.stuck),
            barriers: number.map_or_else(Vec::new, |number| states::after(drawing, number)),
        }
    });
    steps.collect()
}

/// The steps that show what a kernel does.
fn shown(timeline: &Timeline) -> impl Iterator<Item = u32> {
    let stretches = timeline.stretches().into_iter().filter(|stretch| !stretch.folded);
    stretches.flat_map(|stretch| stretch.from..=stretch.to).take(STEPS)
}

fn of_run(snapshot: &Snapshot, drawing: &TraceDrawing<'_>, number: u32) -> Option<RunStep> {
    let timeline = drawing.timeline.as_ref()?;
    let step: &Step = timeline.step(number)?;
    let lane = timeline.lanes.get(step.lane);
    let several = timeline.lanes.iter().any(|lane| lane.cta != 0);
    let partition = lane.map_or_else(String::new, |lane| match several {
        true => format!("{} of CTA {}", lane.name, lane.cta),
        false => lane.name.clone(),
    });
    Some(RunStep {
        partition,
        location: to_proto::location(snapshot, step.range),
        text: step.text.clone(),
        number: Some(number),
        site: step.site.map(|site| site + 1),
        verb: step.verb,
        stuck: step.stuck,
        barriers: states::after(drawing, number),
    })
}
