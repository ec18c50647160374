//! What text and Markdown have in common: a report is a list of blocks, and a printer prints blocks.

use crate::wrap::wrap;

/// No column is made narrower.
const NARROWEST: usize = 14;
/// Longer words are cut like sentences.
const WIDEST_WORD: usize = 40;

/// A piece of a report.
pub enum DocBlock {
    /// The report's title.
    Title(String),
    /// A section's heading.
    Heading(String),
    /// The heading of a part of a section.
    Part(String),
    /// A sentence or more.
    Text(String),
    /// A drawing.
    Drawing(String),
    /// Names and what is said of them.
    Fields(Vec<(&'static str, String)>),
    /// Sentences, one an entry.
    List(Vec<String>),
    /// A table.
    Table(DocTable),
}

/// A table.
pub struct DocTable {
    heads: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

impl DocTable {
    /// A table without rows.
    pub fn new(heads: &'static [&'static str]) -> DocTable {
        DocTable { heads, rows: Vec::new() }
    }

    /// Adds a row of as many cells as there are heads.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Aligned lines of at most `width` columns, if the table allows; cells that are too long are wrapped.
    pub fn text(&self, width: usize) -> Vec<String> {
        let used = self.used();
        let natural: Vec<usize> = used.iter().map(|&at| self.natural(at)).collect();
        let floor: Vec<usize> = used.iter().map(|&at| self.longest_word(at).clamp(NARROWEST, WIDEST_WORD)).collect();
        let mut widths = natural.clone();
        let gaps = 2 * used.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > width {
            let widest = |floor: &dyn Fn(usize) -> usize| {
                (0..widths.len()).filter(|&at| widths[at] > floor(at)).max_by_key(|&at| widths[at])
            };
            // Words are cut only where there is no other way.
            let Some(at) = widest(&|at| floor[at]).or_else(|| widest(&|_| NARROWEST)) else { break };
            widths[at] -= 1;
        }
        let heads = used.iter().map(|&at| self.heads.get(at).copied().unwrap_or_default().to_owned()).collect();
        let mut lines = line(heads, &widths);
        lines.push(widths.iter().map(|&width| "-".repeat(width)).collect::<Vec<_>>().join("  "));
        for row in &self.rows {
            let cells = used.iter().map(|&at| row.get(at).cloned().unwrap_or_default()).collect();
            lines.extend(line(cells, &widths));
        }
        lines
    }

    /// A Markdown table.
    pub fn markdown(&self) -> String {
        let used = self.used();
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = row(used.iter().map(|&at| self.heads[at].to_owned()).collect());
        out.push_str(&row(vec!["---".to_owned(); used.len()]));
        for cells in &self.rows {
            out.push_str(&row(used.iter().map(|&at| escape(cells.get(at).map_or("", String::as_str))).collect()));
        }
        out
    }

    /// Heads, and the cells of each row; columns in which nothing stands are left out.
    pub fn cells(&self) -> (Vec<&'static str>, Vec<Vec<&str>>) {
        let used = self.used();
        let heads = used.iter().filter_map(|&at| self.heads.get(at).copied()).collect();
        let rows = self.rows.iter().map(|row| {
            let cells = used.iter().map(|&at| row.get(at).map_or("", String::as_str));
            cells.collect()
        });
        (heads, rows.collect())
    }

    /// Columns in which something stands.
    fn used(&self) -> Vec<usize> {
        let filled = |at: usize| self.rows.iter().any(|row| row.get(at).is_some_and(|cell| !cell.is_empty()));
        (0..self.heads.len()).filter(|&at| filled(at)).collect()
    }

    fn longest_word(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(at));
        cells.flat_map(|cell| cell.split_whitespace()).map(|word| word.chars().count()).max().unwrap_or(0)
    }

    fn natural(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count());
        cells.chain(self.heads.get(at).map(|head| head.len())).max().unwrap_or(0)
    }
}

fn line(cells: Vec<String>, widths: &[usize]) -> Vec<String> {
    let wrapped: Vec<Vec<String>> = cells.iter().zip(widths).map(|(cell, &width)| wrap(cell, width)).collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let mut lines = Vec::new();
    for at in 0..height {
        let parts = wrapped.iter().zip(widths);
        let parts = parts.map(|(cell, &width)| format!("{:width$}", cell.get(at).map_or("", String::as_str)));
        lines.push(parts.collect::<Vec<_>>().join("  ").trim_end().to_owned());
    }
    lines
}

/// Text that Markdown shows as it is.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' | '\r' => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_fits_its_width_and_drops_empty_columns() {
        let mut table = DocTable::new(&["who", "nothing", "what"]);
        table.row(vec!["a".to_owned(), String::new(), "a sentence that does not fit a line".to_owned()]);
        let lines = table.text(25);
        assert_eq!(
            lines,
            ["who  what", "---  --------------------", "a    a sentence that does", "     not fit a line"]
        );
    }

    #[test]
    fn names_are_no_markup() {
        let mut table = DocTable::new(&["a"]);
        table.row(vec!["%a_b | <c>".to_owned()]);
        assert_eq!(table.markdown(), "| a |\n| --- |\n| %a\\_b \\| &lt;c&gt; |\n");
    }
}
