//! Where elements lie in shared memory.

use super::read::LayoutSpec;

/// How the chunks of a row change places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Swizzle {
    /// Elements of a chunk; they stay together.
    pub vec: i64,
    /// Rows next to each other that change places alike.
    pub per_phase: i64,
    /// How many ways there are to change places.
    pub max_phase: i64,
    /// Chunks of a row that are drawn.
    pub chunks: i64,
}

impl Swizzle {
    /// Of `ttg.swizzled_shared`; `row` is how many elements a row has, where that is known.
    pub(crate) fn of_swizzled(spec: &LayoutSpec, row: Option<i64>) -> Option<Swizzle> {
        let positive = |name: &str| spec.int(name).filter(|value| (1..=1 << 16).contains(value));
        let (vec, per_phase, max_phase) = (positive("vec")?, positive("perPhase")?, positive("maxPhase")?);
        let chunks = row.map_or(max_phase, |row| (row / vec).max(1));
        Some(Swizzle { vec, per_phase, max_phase, chunks })
    }

    /// Of `ttg.nvmma_shared`: chunks of 16 bytes, rows of `swizzlingByteWidth`, eight rows a pattern. `None` where
    /// nothing is swizzled.
    pub(crate) fn of_nvmma(spec: &LayoutSpec) -> Option<Swizzle> {
        let width = spec.int("swizzlingByteWidth").filter(|width| matches!(width, 32 | 64 | 128))?;
        let bits = spec.int("elementBitWidth").filter(|bits| matches!(bits, 8 | 16 | 32 | 64))?;
        Some(Swizzle { vec: 128 / bits, per_phase: 128 / width, max_phase: width / 16, chunks: width / 16 })
    }

    /// Whether anything changes places.
    pub(crate) fn moves(&self) -> bool {
        self.max_phase > 1 && self.chunks > 1
    }

    /// Which chunk of a row lies at this place of it.
    pub(crate) fn chunk_at(&self, row: i64, place: i64) -> i64 {
        // What would lead out of the row wraps around.
        let phase = row / self.per_phase.max(1) % self.max_phase.max(1) % self.chunks.max(1);
        place ^ phase
    }
}

#[cfg(test)]
mod tests {
    use super::super::draw::swizzle;
    use super::super::read::read;
    use super::*;

    fn nvmma(width: i64) -> String {
        let text =
            format!("#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = false, elementBitWidth = 16}}>");
        let spec = read(&text, &|_| None).expect("a layout");
        swizzle(&Swizzle::of_nvmma(&spec).expect("it is swizzled"))
    }

    /// From the tables of the TMA's swizzle modes: 16-byte chunk `c` of row `r` lies at `c ^ (r % 8)` with 128 bytes,
    /// at `c ^ (r / 2 % 4)` with 64, at `c ^ (r / 4 % 2)` with 32.
    #[test]
    fn the_modes_of_the_tma() {
        assert_eq!(
            nvmma(128),
            "row 0: 0 1 2 3 4 5 6 7\nrow 1: 1 0 3 2 5 4 7 6\nrow 2: 2 3 0 1 6 7 4 5\nrow 3: 3 2 1 0 7 6 5 4\n\
             row 4: 4 5 6 7 0 1 2 3\nrow 5: 5 4 7 6 1 0 3 2\nrow 6: 6 7 4 5 2 3 0 1\nrow 7: 7 6 5 4 3 2 1 0"
        );
        assert_eq!(
            nvmma(64),
            "row 0: 0 1 2 3\nrow 1: 0 1 2 3\nrow 2: 1 0 3 2\nrow 3: 1 0 3 2\n\
             row 4: 2 3 0 1\nrow 5: 2 3 0 1\nrow 6: 3 2 1 0\nrow 7: 3 2 1 0"
        );
        assert_eq!(
            nvmma(32),
            "row 0: 0 1\nrow 1: 0 1\nrow 2: 0 1\nrow 3: 0 1\nrow 4: 1 0\nrow 5: 1 0\nrow 6: 1 0\nrow 7: 1 0"
        );
    }

    #[test]
    fn a_swizzled_layout_says_its_numbers_itself() {
        let read = |text: &str, row| Swizzle::of_swizzled(&read(text, &|_| None).expect("a layout"), row);
        let own = read("#ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>", Some(64));
        let own = own.expect("it is swizzled");
        assert_eq!((own.chunks, own.chunk_at(0, 3), own.chunk_at(1, 3), own.chunk_at(2, 3)), (8, 3, 3, 2));
        assert_eq!((own.chunk_at(6, 4), own.chunk_at(8, 4)), (7, 4));
        let plain = read("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>", None);
        assert_eq!(plain.map(|plain| plain.moves()), Some(false));
        assert_eq!(read("#ttg.swizzled_shared<{vec = 0, perPhase = 1, maxPhase = 1}>", None), None);
    }
}
