//! Blocks as HTML: lists of a dump's sections, and what a pass changed.

use std::fmt::Write;

use super::links::escape;
use crate::report::blocks::DocBlock;

/// All blocks, in their order.
pub fn draw(blocks: &[DocBlock]) -> String {
    let mut out = String::new();
    for block in blocks {
        let _ = match block {
            DocBlock::Title(text) => writeln!(out, "<h2>{}</h2>", escape(text)),
            DocBlock::Heading(text) => writeln!(out, "<h3>{}</h3>", escape(text)),
            DocBlock::Part(text) => writeln!(out, "<h4>{}</h4>", escape(text)),
            DocBlock::Text(text) => writeln!(out, "<p>{}</p>", escape(text)),
            DocBlock::Drawing(text) => writeln!(out, "<pre class=\"edit\">{}</pre>", escape(text)),
            DocBlock::Fields(fields) => {
                let field = |(name, value): &(&str, String)| {
                    format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value))
                };
                writeln!(out, "<dl class=\"summary\">{}</dl>", fields.iter().map(field).collect::<String>())
            }
            DocBlock::List(items) => {
                let items: String = items.iter().map(|item| format!("<li>{}</li>", escape(item))).collect();
                writeln!(out, "<ul>{items}</ul>")
            }
            DocBlock::Table(table) => {
                let (heads, rows) = table.cells();
                let heads: String = heads.into_iter().map(|head| format!("<th>{}</th>", escape(head))).collect();
                let row = |row: Vec<&str>| {
                    let cells: String = row.into_iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
                    format!("<tr>{cells}</tr>\n")
                };
                let rows: String = rows.into_iter().map(row).collect();
                writeln!(
                    out,
                    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table><thead><tr>{heads}</tr></thead>\
                     <tbody>\n{rows}</tbody></table></div>"
                )
            }
        };
    }
    out
}
