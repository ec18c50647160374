//! From where in the source an op comes: a call expression, and the calls that lead to it.

use base::TextRange;
use rustc_hash::FxHashMap;

/// A file of this elaboration; 0 is the one that holds the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct FileId(pub u32);

/// An [`Origin`] of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct OriginId(pub u32);

/// A [`Frame`] of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FrameId(pub u32);

/// An expression or statement that emits ops.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The file it stands in.
    pub file: FileId,
    /// The whole expression, in the file's [`source`](crate::Module::source).
    pub range: TextRange,
    /// What is called, as a reader of Python would say it (`tma.async_load`, `a.index`, `for`).
    pub what: &'static str,
    /// The call or unrolled iteration around it.
    pub frame: Option<FrameId>,
}

/// A call that was inlined, or an iteration that was unrolled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The file of the call.
    pub file: FileId,
    /// The call, or the head of the loop.
    pub range: TextRange,
    /// `load_tile`, or `s = 2`.
    pub what: String,
    /// Whether it is an iteration.
    pub iteration: bool,
    /// What is around it.
    pub outer: Option<FrameId>,
    /// The memory that the function is handed, in parameters and their fields: numbers of [`Origins::memory`].
    pub memory: Vec<u32>,
}

/// All origins of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// The origins.
    pub origins: Vec<Origin>,
    /// The frames.
    pub frames: Vec<Frame>,
    /// Where in the IR the line of an op starts, ascending.
    pub ops: Vec<(u32, OriginId)>,
    /// Buffers and barriers that functions are handed, by their names in the IR, without `%`; empty of one that
    /// the IR does not name.
    pub memory: Vec<String>,
}

impl Origins {
    /// The origin of the op around an offset of the IR.
    pub fn at(&self, offset: u32) -> Option<&Origin> {
        self.origins.get(self.number_at(offset)?.0 as usize)
    }

    /// By origin, the first one that comes from the same call, reached by the same calls, in whatever iterations of
    /// unrolled loops.
    pub fn calls(&self) -> Vec<OriginId> {
        // A frame by the first one that differs in the iterations around it alone.
        let mut frames: Vec<Option<FrameId>> = Vec::with_capacity(self.frames.len());
        let mut known_frames = FxHashMap::default();
        for (number, frame) in self.frames.iter().enumerate() {
            let outer = frame.outer.and_then(|outer| frames.get(outer.0 as usize).copied().flatten());
            let mut same = || *known_frames.entry((frame.file, frame.range, outer)).or_insert(FrameId(number as u32));
            frames.push(if frame.iteration { outer } else { Some(same()) });
        }
        let mut known = FxHashMap::default();
        let numbered = self.origins.iter().zip(0..);
        let calls = numbered.map(|(origin, number)| {
            let frame = origin.frame.and_then(|frame| frames.get(frame.0 as usize).copied().flatten());
            *known.entry((origin.file, origin.range, origin.what, frame)).or_insert(OriginId(number))
        });
        calls.collect()
    }

    /// The number of the origin of the op around an offset of the IR.
    pub fn number_at(&self, offset: u32) -> Option<OriginId> {
        let at = self.ops.partition_point(|(start, _)| *start <= offset).checked_sub(1)?;
        Some(self.ops[at].1)
    }

    /// The frames around an origin, innermost first.
    pub fn frames<'o>(&'o self, origin: &Origin) -> impl Iterator<Item = &'o Frame> {
        let mut next = origin.frame;
        std::iter::from_fn(move || {
            let frame = self.frames.get(next?.0 as usize)?;
            next = frame.outer;
            Some(frame)
        })
    }
}
