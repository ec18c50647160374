//! The border to the analysis crate.
use analysis::base::{Cancel, Cancelled, Limits};
use analysis::findings::KernelReport;
pub use analysis::syntax::ttgir::{Document, SyntaxError};

#[derive(Default)]
pub struct Analysis {
    pub kernels: Vec<KernelReport>,
    pub syntax: Vec<SyntaxError>,
    pub skipped: Vec<String>,
}
pub struct Engine;
impl Engine {
    pub fn new(_: Limits) -> Engine {
        Engine
    }
    pub fn analyse(&mut self, document: &Document, _: &Cancel<'_>) -> Result<Analysis, Cancelled> {
        let mut syntax = Vec::new();
        for section in document.sections() {
            let lift = |r: analysis::base::TextRange| {
                analysis::base::TextRange::new(r.start + section.offset(), r.end + section.offset())
            };
            for e in section.tree().errors() {
                let mut e = e.clone();
                e.range = lift(e.range);
                for r in &mut e.related {
                    r.0 = lift(r.0);
                }
                syntax.push(e);
            }
        }
        Ok(Analysis { syntax, ..Default::default() })
    }
}
