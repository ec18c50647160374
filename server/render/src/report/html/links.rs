//! How the elements of a report are named and linked in its page.
//!
//! Ids are stable: kernel `k1`, and in it partition `k1-p0`, barrier `k1-b0`, edge `k1-e0`, bundle of
//! edges `k1-g0`, buffer `k1-d0` and its members `k1-d0-1`, coverage `k1-c0` and its rows `k1-c0-1`,
//! finding `k1-f0`; `L12` is line 12, `F2-L12` that of a second file.
//! Numbers, extents and lines that the JSON document holds too carry their path in it: `data-json`,
//! `data-extent`, `data-lines`.

use std::fmt::Display;

use base::TextRange;
use maud::{Markup, Render, html};
use report::Report;

use super::text::{code, joined};
use crate::report::view::{ReportView, extent};

/// A kernel's report in the page.
pub(super) struct Links<'a> {
    /// The report and its text.
    pub(super) view: &'a ReportView<'a>,
    /// Its number in the page, from 0.
    number: usize,
    /// The number of its file in the page, from 0.
    pub(super) file: usize,
}

impl<'a> Links<'a> {
    /// The links of a view by its number; views of one file share its text.
    pub(super) fn new(view: &'a ReportView<'a>, number: usize, all: &[ReportView<'_>]) -> Links<'a> {
        let same = |a: &ReportView<'_>, b: &ReportView<'_>| std::ptr::eq(a.places.text(), b.places.text());
        let first = |of: &ReportView<'_>| all.iter().position(|other| same(other, of)).unwrap_or(0);
        let own = first(view);
        let file = (0..own).filter(|&at| all.get(at).is_some_and(|it| first(it) == at)).count();
        Links { view, number, file }
    }

    /// What the ids of lines begin with.
    pub(super) fn anchor(&self) -> String {
        if self.file == 0 { "L".to_owned() } else { format!("F{}-L", self.file + 1) }
    }

    /// The report.
    pub(super) fn report(&self) -> &'a Report {
        &self.view.report
    }

    /// An id: `k1-e3`.
    pub(super) fn id(&self, what: impl Display) -> String {
        format!("k{}-{what}", self.number + 1)
    }

    /// Where the JSON document has what this path of the report names: `/reports/0/edges/3/pairs`.
    pub(super) fn path(&self, path: impl Display) -> String {
        format!("/reports/{}/{path}", self.number)
    }

    /// A number that the JSON document holds under this path of the report.
    pub(super) fn number(&self, path: impl Display, value: impl Render) -> Markup {
        html! { data data-json=(self.path(path)) value=(value) { (value) } }
    }

    /// A link to an element by its id.
    pub(super) fn to(&self, id: impl Display, text: impl Render) -> Markup {
        html! { a href={ "#" (self.id(id)) } { (text) } }
    }

    /// A link to a line with this text.
    pub(super) fn to_line(&self, line: u32, text: impl Render) -> Markup {
        html! { a.at href={ "#" (self.anchor()) (line) } title={ "line " (line) } { (text) } }
    }

    /// A link to a line: its number; nothing for what has no place.
    pub(super) fn at(&self, range: TextRange) -> Markup {
        html! { @if let Some(line) = self.view.line(range) { (self.to_line(line, line)) } }
    }

    /// Links to lines, each once.
    pub(super) fn all_at(&self, ranges: impl IntoIterator<Item = TextRange>) -> Markup {
        joined(self.view.lines(ranges).into_iter().map(|line| self.to_line(line, line)), ", ")
    }

    /// A name that links to its line.
    pub(super) fn name(&self, name: &str, range: TextRange) -> Markup {
        let name = code(name);
        match self.view.line(range) {
            Some(line) => html! { a href={ "#" (self.anchor()) (line) } title={ "line " (line) } { (name) } },
            None => name,
        }
    }

    /// A partition by its label.
    pub(super) fn partition(&self, at: usize) -> Markup {
        self.to(format_args!("p{at}"), self.view.partition(at))
    }

    /// A barrier by its name; nothing for one that is not there.
    pub(super) fn barrier(&self, at: usize) -> Markup {
        let barrier = self.report().barriers.get(at);
        html! { @if let Some(barrier) = barrier { (self.to(format_args!("b{at}"), code(&barrier.name))) } }
    }

    /// A logical buffer by its name, where the physical one is said.
    pub(super) fn member_alone(&self, (buffer, member): (usize, usize)) -> Markup {
        let name = self.report().buffers.get(buffer).and_then(|buffer| buffer.members.get(member));
        let name = name.map_or("?", |member| member.name.as_str());
        self.to(format_args!("d{buffer}-{member}"), code(name))
    }

    /// A logical buffer by its name.
    pub(super) fn member(&self, (buffer, member): (usize, usize)) -> Markup {
        self.to(format_args!("d{buffer}-{member}"), code(&self.view.member((buffer, member))))
    }

    /// An edge: by which barrier, from whom to whom; nothing for one that is not there.
    pub(super) fn edge(&self, at: usize) -> Markup {
        let Some(edge) = self.report().edges.get(at) else { return Markup::default() };
        let barrier = edge.barrier.and_then(|at| self.report().barriers.get(at));
        let by = html! {
            @if let Some(barrier) = barrier { (code(&barrier.name)) } @else { (edge.mechanism.name()) }
        };
        let (from, to) = (self.view.partition(edge.from), self.view.partition(edge.to));
        html! {
            (self.to(format_args!("e{at}"), by)) " "
            span.quiet { (from) " → " (to) ", " (edge.direction.name()) }
        }
    }

    /// Where in a buffer: `cols 0-63`; the JSON document has it under this path of the report.
    pub(super) fn extent(&self, buffer: usize, extent_of: (u64, u64), path: impl Display) -> Markup {
        let buffer = self.report().buffers.get(buffer);
        html! {
            @if let Some(buffer) = buffer { span data-extent=(self.path(path)) { (extent(buffer, extent_of)) } }
        }
    }
}
