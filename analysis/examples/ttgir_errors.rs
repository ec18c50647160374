//! Prints what the parser has to say about files: `path:line:col: code: message`.

use analysis::base::LineIndex;
use analysis::syntax::ttgir::Document;

fn main() {
    for path in std::env::args().skip(1) {
        let Ok(text) = std::fs::read_to_string(&path) else {
            eprintln!("{path}: cannot read");
            continue;
        };
        let lines = LineIndex::new(&text);
        let document = Document::new(text.as_str());
        for section in document.sections() {
            for error in section.tree().errors() {
                let at = lines.line_col(section.offset() + error.range.start);
                println!("{path}:{}:{}: {}: {}", at.line + 1, at.col + 1, error.code, error.message);
            }
        }
    }
}
