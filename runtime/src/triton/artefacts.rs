//! What Triton left in its cache: the IR of each kernel that was compiled, and whether it is instrumented.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use asserts::CompiledIr;

use crate::cache::KernelCache;
use crate::limits::triton::KERNELS;
use crate::run::Instrument;

/// A kernel that was compiled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CompiledKernel {
    /// Name of the kernel.
    pub(crate) name: String,
    /// Its TTGIR; `None` where it was not kept.
    pub(crate) ir: Option<CompiledIr>,
    /// Whether the sanitizer is in it.
    pub(crate) instrumented: bool,
}

/// All kernels of a cache that this run wrote.
pub(crate) fn list(folder: &Path, instrument: Instrument) -> Vec<CompiledKernel> {
    let Ok(cache) = KernelCache::list(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for (name, entries) in cache.all() {
        for entry in entries {
            if found.len() == KERNELS {
                return found;
            }
            let Ok(texts) = entry.read() else { continue };
            let files = vec![entry.ttgir.to_string_lossy().into_owned()];
            let ir = CompiledIr { text: Arc::from(texts.ttgir), files, own: false };
            let instrumented = options_name(&texts.options, instrument) || code_calls(&entry.ttgir, instrument);
            found.push(CompiledKernel { name: name.to_owned(), ir: Some(ir), instrumented });
        }
    }
    found
}

/// Whether the options that a kernel was compiled with name the sanitizer, and it took memory for it.
fn options_name(options: &str, instrument: Instrument) -> bool {
    let Ok(options) = serde_json::from_str::<serde_json::Value>(options) else { return false };
    let mode = options.get("instrumentation_mode").and_then(|mode| mode.as_str()).unwrap_or_default();
    let named = mode.split(',').any(|mode| mode.trim() == instrument.name());
    let scratch = options.get("profile_scratch_size").and_then(serde_json::Value::as_u64).unwrap_or(0);
    named && (instrument != Instrument::ConSan || scratch > 0)
}

/// Whether the code asserts what the sanitizer asserts (older releases do not record the mode).
fn code_calls(ttgir: &Path, instrument: Instrument) -> bool {
    let word = match instrument {
        Instrument::ConSan | Instrument::Both => "Buffer being accessed has outstanding",
        Instrument::GSan => "__triton_gsan",
        Instrument::Plain => return false,
    };
    fs::read_to_string(ttgir.with_extension("llir")).is_ok_and(|text| text.contains(word))
}
