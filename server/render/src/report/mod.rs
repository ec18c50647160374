//! The barrier report of a kernel, for people and tools.
//!
//! Every back end takes [`ReportView`]s. Text, Markdown and parts of the HTML page print the same
//! [`blocks`](blocks::DocBlock).

pub mod blocks;
mod content;
pub mod diff;
mod graph;
pub mod html;
pub mod json;
pub mod md;
#[cfg(test)]
mod tests;
pub mod text;
mod view;

pub use view::{ReportView, SectionName};

use blocks::{DocBlock, DocTable};

/// A section of a file that has kernels; of a Python file, an instance of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionEntry {
    /// Its index in the document.
    pub index: usize,
    /// Its number and pass.
    pub name: SectionName,
    /// All that its separator says of the pass.
    pub header: String,
    /// The line it starts on, from 1.
    pub line: u32,
    /// Names of its kernels.
    pub kernels: Vec<String>,
    /// Of Python: which instance of its kernel it is, from 0.
    pub instance: Option<usize>,
}

/// The sections of a file as a table, for a user who has to choose one.
pub fn section_list(path: &str, sections: &[SectionEntry]) -> Vec<DocBlock> {
    let mut table = DocTable::new(&["section", "line", "pass", "kernels"]);
    for section in sections {
        let kernels: Vec<String> = section.kernels.iter().map(|name| format!("@{name}")).collect();
        let (number, line) = (section.name.number.to_string(), section.line.to_string());
        table.row(vec![number, line, section.name.pass.clone(), kernels.join(", ")]);
    }
    let intro = format!("{} sections of {path} have kernels; --section N, PASS or `all` chooses.", sections.len());
    vec![DocBlock::Text(intro), DocBlock::Table(table)]
}
