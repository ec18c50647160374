//! Random edits of real files: what is kept from one text to the next must never show.
//!
//! After each edit the document that was edited is compared with one that is made of the same text from nothing: its
//! tree, its mistakes, and what editors ask of it. Every so often the whole analysis is compared too, by an engine that
//! has seen all texts before and by one that has seen none. Of Python that does not parse the last good text of a
//! function counts, which is part of the document and not of what is kept.

pub mod edits;

use std::fmt::{self, Write};

use base::{Cancel, Limits};
use engine::instances::Elaborator;
use engine::{Analysis, Engine, Source};
use python::syntax::NoSources;
use ttgir::{OpId, Tree};

pub use edits::{Edit, Typist, shrink};

/// What an edit of a document broke.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The shortest text that shows it.
    pub text: String,
    /// The edits that do.
    pub edits: Vec<Edit>,
    /// What the edited document says, and what a new one says.
    pub said: (String, String),
}

/// Twenty files of both languages, each with its text.
pub fn files() -> Vec<(String, String)> {
    let named = [
        "kernels/attention.ttgir",
        "kernels/ring.ttgir",
        "kernels/ring_not_waited.ttgir",
        "kernels/gluon/sum_rows.py",
        "corpus/ttgir/sm_90/ws_gemm.ttgir",
        "corpus/ttgir/sm_90/cluster_gemm.ttgir",
        "corpus/ttgir/sm_90/cp_async_ws.ttgir",
        "corpus/ttgir/sm_90/softmax_two_pass.ttgir",
        "corpus/ttgir/sm_100/tc05_attention.ttgir",
        "corpus/ttgir/sm_100/tc05_persistent.ttgir",
        "corpus/ttgir/sm_100/clc_copy_rows.ttgir",
        "corpus/ttgir/gfx1250/lds_barrier_copy.ttgir",
        "corpus/ttgir/gfx1250/tdm_ws_gemm.ttgir",
        "corpus/gluon/ws_gemm.py",
        "corpus/gluon/tc05_attention.py",
        "corpus/gluon/attention_ws.py",
        "corpus/gluon/cluster_gemm.py",
        "corpus/gluon/gemm_ring3.py",
        "corpus/gluon/lds_barrier_copy.py",
        "corpus/gluon/tdm_ws_gemm.py",
    ];
    let read = |name: &str| {
        let path = crate::sources::root().join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path.display().to_string(), text)
    };
    named.into_iter().map(read).collect()
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "an edited document differs from a new one\n--- text\n{}\n--- edits", self.text)?;
        self.edits.iter().try_for_each(|edit| writeln!(f, "{:?} becomes {:?}", edit.range, edit.with))?;
        let (ours, fresh) = &self.said;
        let lines = ours.lines().zip(fresh.lines()).filter(|(ours, fresh)| ours != fresh);
        writeln!(f, "--- edited and new, {} and {} lines", ours.lines().count(), fresh.lines().count())?;
        lines.take(6).try_for_each(|(ours, fresh)| writeln!(f, "{ours:.300}\n{fresh:.300}\n"))
    }
}

/// How many edits lie between two comparisons of the whole analysis; 0: none are made.
#[derive(Clone, Copy, Debug)]
pub struct Pace(pub usize);

/// Edits a file so many times.
///
/// # Errors
///
/// The first difference.
pub fn edit(path: &str, original: &str, seed: (u64, u64), edits: usize, pace: Pace) -> Result<(), Box<Difference>> {
    let mut typist = Typist::new(seed.0, seed.1);
    let mut source = Source::new(path, original);
    let mut kept = Kept::new();
    let mut history: Vec<(String, Edit)> = Vec::new();
    for number in 1..=edits {
        let text = source.text().to_owned();
        let edit = typist.edit(&text, original);
        let range = edit.fit(&text);
        source = source.edit(range, &edit.with);
        history.push((text, edit));
        if history.len() > 64 {
            history.remove(0);
        }
        let offsets: Vec<u32> = (0..4).map(|_| typist.place(source.text()) as u32).collect();
        if !same(&source, &offsets) {
            return Err(Box::new(cut_down(path, &history, &|source| same(source, &all_offsets(source)), &|source| {
                describe(source, &all_offsets(source))
            })));
        }
        if pace.0 > 0 && number % pace.0 == 0 {
            let (ours, fresh) = (kept.analysis(&source), Kept::new().analysis(&source));
            if ours != fresh {
                return Err(Box::new(earlier_text(path, &history, &source, (ours, fresh))));
            }
        }
    }
    Ok(())
}

/// The last text whose analysis makes that of `source` another one, as one edit; the last edit where no single text does.
fn earlier_text(path: &str, history: &[(String, Edit)], source: &Source, said: (String, String)) -> Difference {
    let spoils = |text: &str| {
        let mut kept = Kept::new();
        kept.analysis(&Source::new(path, text));
        kept.analysis(source) != said.1
    };
    if let Some((text, _)) = history.iter().rev().find(|(text, _)| spoils(text)) {
        let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        let now = source.text();
        let start = (0..=same(text, now)).rev().find(|at| text.is_char_boundary(*at) && now.is_char_boundary(*at));
        let start = start.unwrap_or(0);
        let tail = text[start..].bytes().rev().zip(now[start..].bytes().rev()).take_while(|(a, b)| a == b).count();
        let is_end = |tail: &usize| text.is_char_boundary(text.len() - tail) && now.is_char_boundary(now.len() - tail);
        let tail = (0..=tail).rev().find(is_end).unwrap_or(0);
        let range = base::TextRange::new(start as u32, (text.len() - tail) as u32);
        let edit = Edit { range, with: now[start..now.len() - tail].to_owned() };
        return Difference { text: text.clone(), edits: vec![edit], said };
    }
    let (text, edits) = history.last().map_or_else(Default::default, |(text, edit)| (text.clone(), vec![edit.clone()]));
    Difference { text, edits, said }
}

/// The shortest history that ends in a difference.
fn cut_down(
    path: &str,
    history: &[(String, Edit)],
    same: &dyn Fn(&Source) -> bool,
    describe: &dyn Fn(&Source) -> String,
) -> Difference {
    let made = |text: &str, edits: &[Edit]| {
        let first = Source::new(path, text);
        describe(&first);
        edits.iter().fold(first, |source, edit| {
            let source = source.edit(edit.fit(source.text()), &edit.with);
            describe(&source);
            source
        })
    };
    let fails = |text: &str, edits: &[Edit]| !same(&made(text, edits));
    for count in 1..=history.len() {
        let part = &history[history.len() - count..];
        let edits: Vec<Edit> = part.iter().map(|(_, edit)| edit.clone()).collect();
        if fails(&part[0].0, &edits) {
            let (text, edits) = shrink(&part[0].0, &edits, &fails);
            let source = made(&text, &edits);
            let said = (describe(&source), describe(&fresh(&source)));
            return Difference { text, edits, said };
        }
    }
    let edits = history.iter().map(|(_, edit)| edit.clone()).collect();
    Difference {
        text: history.first().map_or_else(String::new, |(text, _)| text.clone()),
        edits,
        said: Default::default(),
    }
}

/// A document of the same text that has seen no edit.
fn fresh(source: &Source) -> Source {
    match source {
        Source::Ir(document) => Source::Ir(ttgir::Document::new(document.text())),
        // What broken functions were is part of it.
        Source::Python(file) if !file.module().broken().is_empty() => source.clone(),
        Source::Python(file) => Source::new(file.module().path(), source.text()),
        Source::Other(_) => source.clone(),
    }
}

fn all_offsets(source: &Source) -> Vec<u32> {
    let text = source.text();
    (0..=text.len()).step_by(7).filter(|at| text.is_char_boundary(*at)).map(|at| at as u32).collect()
}

/// Whether a document says what one of the same text says that has seen no edit.
fn same(source: &Source, offsets: &[u32]) -> bool {
    describe(source, offsets) == describe(&fresh(source), offsets)
}

/// All that a document says of itself, and what editors ask about some places.
fn describe(source: &Source, offsets: &[u32]) -> String {
    let mut out = String::new();
    match source {
        Source::Ir(document) => {
            for section in document.sections() {
                let _ = writeln!(out, "{:?} {:?} {:?}", section.range(), section.header(), section.level());
                outline(section.tree(), &mut out);
            }
            let _ = writeln!(out, "{:?}", ide::symbols(document));
            let _ = writeln!(out, "{:?}", ide::folds(document));
            for &offset in offsets {
                let _ = writeln!(out, "{:?}", ide::hover(document, offset));
                let _ = writeln!(out, "{:?}", ide::definition(document, offset));
                let _ = writeln!(out, "{:?}", ide::occurrences(document, offset));
            }
        }
        Source::Python(file) => {
            let module = file.module();
            let _ = writeln!(out, "{}\n{:?}\n{:?}", module.source(), module.broken(), module.parsed().errors());
        }
        Source::Other(text) => out.push_str(text),
    }
    out
}

/// The operations of a tree and its mistakes, without its numbering.
fn outline(tree: &Tree, out: &mut String) {
    fn below(tree: &Tree, op: OpId, out: &mut String) {
        let operands: Vec<_> = tree.operands(op).iter().map(|v| (tree.value_name(*v), tree.value_range(*v))).collect();
        let results: Vec<_> =
            tree.results(op).iter().map(|v| tree.value_type(*v).map(|ty| tree.type_text(ty))).collect();
        let (name, range, broken) = (tree.op_name(op), tree.op_range(op), tree.is_broken(op));
        let _ = writeln!(out, "{name} {range:?} {broken} {operands:?} {results:?} {:?}", tree.loc(op));
        for &region in tree.regions(op) {
            for &block in tree.blocks(region) {
                let _ = writeln!(out, "block of {:?}", tree.region_range(region));
                tree.block_ops(block).iter().for_each(|op| below(tree, *op, out));
            }
        }
    }
    tree.top().iter().for_each(|op| below(tree, *op, out));
    for error in tree.errors() {
        let _ = writeln!(out, "{error:?}");
    }
}

/// What a server keeps of a document.
struct Kept {
    engine: Engine,
    elaborator: Elaborator,
}

impl Kept {
    fn new() -> Kept {
        Kept { engine: Engine::new(Limits::default()), elaborator: Elaborator::default() }
    }

    /// What the analysis of a document says.
    fn analysis(&mut self, source: &Source) -> String {
        let analysed = self.engine.analyse_source(source, &mut self.elaborator, &NoSources, &Cancel::never());
        let Ok(Analysis { kernels, syntax, problems, skipped, .. }) = analysed else { return "cancelled".to_owned() };
        let mut out = format!("{syntax:#?}\n{problems:#?}\n{skipped:#?}\n");
        for kernel in kernels {
            let (name, range, verdict, findings) = (kernel.name, kernel.range, kernel.verdict, kernel.findings);
            let _ =
                writeln!(out, "{name} {range:?} {verdict:#?}\n{findings:#?}\n{:#?} {:#?}", kernel.pin, kernel.global);
        }
        out
    }
}
