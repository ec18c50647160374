//! What the values of a kernel depend on, as one number: an edit elsewhere in the file does not change it.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::graph::Flow;
use base::TextRange;

impl Flow {
    /// Of the functions that start at `defs`: these and those that they may call, and what stands outside of functions, in
    /// their own file; the whole of the other files.
    pub(crate) fn fingerprint(&self, defs: &[u32]) -> u64 {
        let mut hasher = FxHasher::default();
        let Some((own, others)) = self.modules.split_first() else { return 0 };
        for function in self.reached(defs) {
            if function.file == 0 {
                own.slice(function.range).hash(&mut hasher);
            }
        }
        let mut bodies: Vec<TextRange> = self.functions.iter().filter(|of| of.file == 0).map(|of| of.range).collect();
        bodies.sort_unstable_by_key(|range| range.start);
        let mut from = 0;
        for body in bodies {
            if from < body.start {
                own.slice(TextRange::new(from, body.start)).trim().hash(&mut hasher);
            }
            from = from.max(body.end);
        }
        own.slice(TextRange::new(from, (own.source().len() as u32).max(from))).trim().hash(&mut hasher);
        for other in others {
            (other.path(), other.source()).hash(&mut hasher);
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use python::syntax::{Module, NoSources};

    const TEXT: &str = "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n\n\
                        @gluon.jit\ndef other(out):\n    gl.store(out, 1)\n\n\
                        @gluon.jit\ndef kernel(out, N: gl.constexpr):\n    gl.static_assert(N < 20)\n    gl.store(out, N)\n";

    #[test]
    fn an_edit_elsewhere_searches_for_no_values() {
        let print = |text: &str| {
            let module = Arc::new(Module::parse("k.py", text.to_owned(), None));
            let entries = crate::entries(&module, &NoSources);
            let kernel = entries.iter().find(|entry| entry.name == "kernel").map_or(0, |entry| entry.def);
            crate::flow::of(&module, &NoSources).fingerprint(&[kernel])
        };
        assert_eq!(print(TEXT), print(&TEXT.replace("store(out, 1)", "store(out, 12)")));
        assert_ne!(print(TEXT), print(&TEXT.replace("N < 20", "N < 10")));
    }
}
