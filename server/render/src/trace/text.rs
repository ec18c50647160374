//! A run as text: time downwards, a column a barrier and a buffer, a lane a partition.

use std::fmt::Write;

use findings::{KernelReport, Kind, Verdict};
use kernel::Mode;
use report::timeline::{Band, FoldedSteps, Missing, PhaseEnd, Step, TickAct, Timeline, TimelineRow};
use ttgir::SyntaxError;

use super::drawing::{TraceDrawing, folded, words};
use crate::SourceText;
use crate::style::{Painter, Style};
use crate::wrap::{end_line, wrap};

/// A lane that is narrower holds a sign, and the words stand beside all lanes.
const NARROWEST: usize = 26;

/// Width of the key.
const WIDEST: usize = 96;

/// What the columns of barriers and buffers say.
const LEGEND: &str = "\
barriers  o initialised  0 1 the phase in progress  + arrives  ! completes the phase
          < a wait passes  # a wait stands  x invalidated  ? broken rule  . not live
buffers   w r issued  : in flight  v a waiter knows that it is over";

/// One run.
pub fn draw(drawing: &TraceDrawing<'_>, width: usize, paint: Painter) -> String {
    let mut out = String::new();
    let heading = &drawing.heading;
    let _ = writeln!(out, "{}", paint.text(Style::Bold, &heading.title));
    for line in [&heading.message, &heading.place, &heading.with] {
        if !line.is_empty() {
            wrap(line, width.max(40)).iter().for_each(|row| out += &format!("{row}\n"));
        }
    }
    let Some(timeline) = &drawing.timeline else {
        let why = match heading.finding.is_some_and(|finding| finding.kind == Kind::GlobalRace) {
            true => "programs of a launch are not drawn: `fencepost check` says what both of them do",
            false => "no run leads here: it holds wherever this line is executed",
        };
        let _ = writeln!(out, "{why}\n");
        return out;
    };
    out.push('\n');
    Table::new(drawing, timeline, width, paint).draw(&mut out);
    let left_out = drawing.left_out(drawing.bands.len());
    if !left_out.is_empty() {
        let _ = writeln!(out, "{left_out}");
    }
    out.push('\n');
    out
}

/// What there is to say beside the runs.
pub fn remarks(path: &str, kernels: &[KernelReport], syntax: &[SyntaxError], places: &SourceText<'_>) -> String {
    let mut out = String::new();
    for error in syntax {
        let (line, column) = places.line_column(error.range.start);
        let _ = writeln!(out, "{path}:{line}:{column}: syntax error: {}", error.message);
    }
    let found = kernels.iter().any(|kernel| !kernel.findings.is_empty());
    for kernel in kernels.iter().filter(|kernel| found && kernel.verdict != Verdict::Found) {
        let line = places.line(kernel.range.start);
        let _ = writeln!(out, "{path}:{line}: kernel @{} is {}", kernel.name, kernel.verdict.name());
    }
    out
}

struct Table<'a> {
    drawing: &'a TraceDrawing<'a>,
    timeline: &'a Timeline,
    paint: Painter,
    /// Width of the step numbers and of the line numbers.
    digits: (usize, usize),
    /// Width of a lane; its words stand in it where it is wide.
    lane: usize,
    wide: bool,
    /// Width of the words beside narrow lanes.
    words: usize,
}

impl<'a> Table<'a> {
    fn new(drawing: &'a TraceDrawing<'a>, timeline: &'a Timeline, width: usize, paint: Painter) -> Table<'a> {
        let last = timeline.steps.iter().map(|step| drawing.line(step)).max().unwrap_or(0);
        let digits = (timeline.steps.len().to_string().len().max(4), last.to_string().len().max(4));
        let mut table = Table { drawing, timeline, paint, digits, lane: 0, wide: true, words: 0 };
        let lanes = timeline.lanes.len().max(1);
        let left = width.saturating_sub(table.margin());
        table.lane = (left / lanes).saturating_sub(3);
        table.wide = table.lane >= NARROWEST || lanes == 1;
        if !table.wide {
            table.lane = 3;
            table.words = left.saturating_sub(3 + lanes * 4).max(NARROWEST);
        }
        table
    }

    /// Columns before the lanes.
    fn margin(&self) -> usize {
        let columns = |count: usize| if count == 0 { 0 } else { count + 2 };
        2 + self.digits.0 + 2 + self.digits.1 + columns(self.drawing.bands.len()) + columns(self.drawing.slots.len())
    }

    fn draw(&self, out: &mut String) {
        self.names(out);
        self.head(out);
        for (at, row) in self.drawing.rows.iter().enumerate() {
            match row {
                TimelineRow::Step(number) => {
                    if let Some(step) = self.timeline.step(*number) {
                        self.step(out, at, *number, step);
                    }
                }
                TimelineRow::Fold(fold) => self.fold(out, at, fold),
            }
        }
        for missing in &self.timeline.missing {
            let text = match missing {
                Missing::Order { .. } => {
                    "the dotted line is the order that is missing: nothing says at (2) that (1) is over".to_owned()
                }
                Missing::Flip { step, band } => {
                    let name = self.timeline.bands.get(*band).map_or("the barrier", |band| band.name.as_str());
                    let lane = self.timeline.step(*step).and_then(|step| self.timeline.lanes.get(step.lane));
                    let lane = lane.map_or("someone", |lane| lane.name.as_str());
                    format!("missing: nothing completes the phase of {name} that {lane} waits for")
                }
            };
            let _ = writeln!(out, "{}", self.paint.text(Style::Bad, &text));
        }
        let _ = writeln!(out, "{}", self.paint.text(Style::Dim, LEGEND));
        if self.timeline.steps.iter().any(|step| step.told) {
            let _ =
                writeln!(out, "{}", self.paint.text(Style::Dim, "*         the steps that `fencepost check` tells"));
        }
    }

    /// The letters of barriers and buffers.
    fn names(&self, out: &mut String) {
        let bands = self.drawing.bands.iter().map(|&at| &self.timeline.bands[at].name);
        let slots = self.drawing.slots.iter().map(|&at| &self.timeline.slots[at].name);
        key(out, "barriers", bands.zip('a'..));
        key(out, "buffers", slots.zip('A'..));
        out.push('\n');
    }

    fn head(&self, out: &mut String) {
        let (steps, lines) = self.digits;
        let many = self.timeline.lanes.iter().any(|lane| lane.cta != 0);
        let mut head = format!("  {:>steps$}  {:>lines$}", "step", "line");
        for (letters, first) in [(self.drawing.bands.len(), 'a'), (self.drawing.slots.len(), 'A')] {
            if letters > 0 {
                head.push_str("  ");
                head.extend((first..).take(letters));
            }
        }
        let mut before = None;
        for lane in &self.timeline.lanes {
            let name = if self.wide {
                if many { format!("{} of CTA {}", lane.name, lane.cta) } else { lane.name.clone() }
            } else {
                short(&lane.name)
            };
            // CTAs stand apart.
            let bar = if before.is_some_and(|cta| cta != lane.cta) { "‖" } else { "|" };
            before = Some(lane.cta);
            let space = if self.wide { " " } else { "" };
            let _ = write!(head, "{space}{bar}{space}{name:0$}", self.lane);
        }
        if !self.wide {
            head.push_str(" | what");
        }
        out.push_str(head.trim_end());
        out.push('\n');
        let rule: String = head.trim_end().chars().map(|c| if c == '|' || c == '‖' { '+' } else { '-' }).collect();
        let _ = writeln!(out, "{rule}");
    }

    fn step(&self, out: &mut String, row: usize, number: u32, step: &Step) {
        let site = self.drawing.site(step).map_or_else(String::new, |site| format!("({site}) "));
        let text = format!("{site}{}", words(step));
        let rows = wrap(&text, if self.wide { self.lane } else { self.words });
        for (at, words) in rows.iter().enumerate() {
            let mut line = String::new();
            let (steps, lines) = self.digits;
            line.push(self.edge(row, at + 1 == rows.len(), at == 0));
            if at == 0 {
                let told = if step.told { '*' } else { ' ' };
                let number = if step.stuck { "end".to_owned() } else { number.to_string() };
                let _ = write!(line, "{told}{number:>steps$}  {:>lines$}", self.drawing.line(step));
            } else {
                let _ = write!(line, " {:steps$}  {:lines$}", "", "");
            }
            self.columns(&mut line, number, at == 0);
            let sign = if step.stuck { "#" } else { "o" };
            for lane in 0..self.timeline.lanes.len() {
                let own = lane == step.lane;
                if self.wide {
                    let cell = if own { words.as_str() } else { "" };
                    let _ = write!(line, " | {cell:0$}", self.lane);
                } else {
                    let cell = if own && at == 0 { sign } else { "" };
                    let _ = write!(line, "|{cell:^0$}", self.lane);
                }
            }
            if !self.wide {
                let _ = write!(line, " | {words}");
            }
            if step.site.is_some() && at == 0 {
                line = self.paint.text(Style::Bold, &line);
            } else if !step.told && self.timeline.steps.iter().any(|step| step.told) {
                line = self.paint.text(Style::Dim, &line);
            }
            out.push_str(&line);
            end_line(out);
        }
    }

    fn fold(&self, out: &mut String, row: usize, fold: &FoldedSteps) {
        let edge = self.edge(row, true, true);
        let text = format!("{edge} {:>1$}  {2}", "⋮", self.digits.0, folded(fold));
        let _ = writeln!(out, "{}", self.paint.text(Style::Doubt, &text));
    }

    /// The dotted line beside the rows between which an order is missing.
    fn edge(&self, row: usize, last: bool, first: bool) -> char {
        for missing in &self.timeline.missing {
            let Missing::Order { from, to } = missing else { continue };
            let (from, to) = (self.drawing.row(*from), self.drawing.row(*to));
            if row == from {
                return if first { ',' } else { ':' };
            } else if row == to {
                return if last { '\'' } else { ':' };
            } else if from < row && row < to {
                return ':';
            }
        }
        ' '
    }

    /// The columns of barriers and buffers at a step.
    fn columns(&self, line: &mut String, number: u32, acts: bool) {
        if !self.drawing.bands.is_empty() {
            line.push_str("  ");
            line.extend(self.drawing.bands.iter().map(|&at| band(&self.timeline.bands[at], number, acts)));
        }
        if !self.drawing.slots.is_empty() {
            line.push_str("  ");
            line.extend(self.drawing.slots.iter().map(|&at| slot(self.timeline, at, number, acts)));
        }
    }
}

/// What a buffer is at a step; `acts` in the first line of it.
pub(super) fn slot(timeline: &Timeline, slot: usize, number: u32, acts: bool) -> char {
    let own = || timeline.spans.iter().filter(|span| span.slot == slot);
    if acts && let Some(span) = own().find(|span| span.from == number) {
        return if span.mode == Mode::Read { 'r' } else { 'w' };
    }
    if acts && own().any(|span| span.until == Some(number)) {
        return 'v';
    }
    let flies = |from: u32, until: Option<u32>| from < number && until.is_none_or(|until| number <= until);
    let flying = own().any(|span| span.completes != "in order" && flies(span.from, span.until));
    if flying { ':' } else { ' ' }
}

/// What letters stand for.
fn key<'a>(out: &mut String, what: &str, names: impl Iterator<Item = (&'a String, char)>) {
    let (mut line, mut empty) = (format!("{what:8}"), true);
    for (name, letter) in names {
        let item = format!("  {letter} {name}");
        if line.chars().count() + item.chars().count() > WIDEST {
            out.push_str(&line);
            line = format!("\n{:8}", "");
        }
        line.push_str(&item);
        empty = false;
    }
    if !empty {
        let _ = writeln!(out, "{line}");
    }
}

/// What a barrier is at a step; `acts` in the first line of it.
pub(super) fn band(band: &Band, number: u32, acts: bool) -> char {
    if acts && let Some(tick) = band.ticks.iter().rfind(|tick| tick.step == number) {
        return match tick.act {
            TickAct::Init => 'o',
            TickAct::Arrive => '+',
            TickAct::Flip => '!',
            TickAct::Wait => '<',
            TickAct::Stuck => '#',
            TickAct::Invalidate => 'x',
            TickAct::Broken => '?',
        };
    }
    let phase = band.phases.iter().rfind(|phase| phase.from <= number);
    match phase {
        Some(phase) if phase.end == PhaseEnd::Invalidated && number >= phase.to => '.',
        Some(phase) if phase.number & 1 == 1 => '1',
        Some(_) => '0',
        None => '.',
    }
}

/// `def`, `p0`, `p12`.
fn short(name: &str) -> String {
    match name.strip_prefix("partition") {
        Some(number) => format!("p{}", number.trim()),
        None => name.chars().take(3).collect(),
    }
}
