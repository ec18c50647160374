//! What a layout says, in words.

use super::draw;
use super::owners::{Blocked, Tile};
use super::read::LayoutSpec;
use super::shared::Swizzle;

/// A layout in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// Sentences.
    pub words: Vec<String>,
    /// Lines of equal-width text; empty where nothing is drawn.
    pub picture: String,
}

impl Described {
    fn say(&mut self, text: impl Into<String>) {
        self.words.push(text.into());
    }
}

/// What a layout says; `shape` is that of the tensor or buffer that has it, without the slots of a ring, where it is
/// known.
pub fn describe(spec: &LayoutSpec, shape: Option<&[i64]>) -> Described {
    let mut out = Described::default();
    let known = match spec.kind.as_str() {
        "ttg.blocked" => blocked(spec, shape, &mut out),
        "ttg.linear" => linear(spec, &mut out),
        "ttg.slice" => slice(spec, &mut out),
        "ttg.nvidia_mma" => nvidia_mma(spec, &mut out),
        "ttg.amd_mfma" | "ttg.amd_wmma" => amd(spec, &mut out),
        "ttg.dot_op" => dot_operand(spec, &mut out),
        "ttg.swizzled_shared" => swizzled(spec, shape, &mut out),
        "ttg.nvmma_shared" => nvmma(spec, shape, &mut out),
        "ttg.padded_shared" => padded(spec, &mut out),
        "ttg.shared_linear" => shared_linear(spec, &mut out),
        "ttng.tensor_memory_encoding" => tensor_memory(spec, shape, &mut out),
        "ttng.tensor_memory_scales_encoding" => {
            out.say(
                "Tensor memory for the block scales of an MMA: 32 rows side by side in groups of four scales, the \
                     same in each quarter of the lanes.",
            );
            Some(())
        }
        "ttg.shared_memory" => {
            out.say("Shared memory of a CTA.");
            Some(())
        }
        "ttng.tensor_memory" => {
            out.say("Tensor memory of an SM: 128 lanes of 512 columns of 32 bits, read and written by tcgen05.");
            Some(())
        }
        "ttng.shared_cluster_memory" => {
            out.say("Shared memory of another CTA of the cluster.");
            Some(())
        }
        _ => None,
    };
    if known.is_none() {
        out.words.insert(0, format!("A layout `{}`; nothing more is known of it here.", spec.kind));
    } else if spec.bases("CGALayout").is_some_and(|bases| !bases.is_empty()) {
        out.say("The CTAs of a cluster share it (`CGALayout`); what is said here is one CTA's part.");
    }
    out
}

fn sizes(list: &[i64]) -> String {
    list.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

fn blocked(spec: &LayoutSpec, shape: Option<&[i64]>, out: &mut Described) -> Option<()> {
    let own = Blocked::of(spec)?;
    let (threads, warps): (i64, i64) = (own.threads_per_warp.iter().product(), own.warps.iter().product());
    out.say(format!(
        "A tensor in registers, blocked: each thread holds {} elements next to each other, the {threads} threads of a \
         warp stand {}, the {warps} warps {}.",
        sizes(&own.size_per_thread),
        sizes(&own.threads_per_warp),
        sizes(&own.warps)
    ));
    let order: Vec<String> = own.order.iter().map(i64::to_string).collect();
    if own.order.len() > 1 {
        out.say(format!("Threads and warps are counted along dimension {} first.", order.join(", then ")));
    }
    let tile = own.tile();
    let mut once = format!("Together they hold {} elements once", sizes(&tile));
    if let Some(shape) = shape.filter(|shape| shape.len() == tile.len()) {
        let pairs = || shape.iter().zip(&tile);
        if pairs().any(|(size, tile)| size > tile) {
            let times: Vec<i64> = pairs().map(|(size, tile)| (size + tile - 1) / tile.max(&1)).collect();
            once.push_str(&format!("; {} repeats that {} times", sizes(shape), sizes(&times)));
        }
        if pairs().any(|(size, tile)| size < tile) {
            once.push_str(&format!("; {} is smaller, so several threads hold the same element", sizes(shape)));
        }
    }
    out.say(format!("{once}."));
    picture(spec, "Warp and thread of each cell, by row and column of its first element:", out);
    Some(())
}

/// The picture of a tile, where there is one.
fn picture(spec: &LayoutSpec, title: &str, out: &mut Described) {
    if let Some(tile) = Tile::of(spec) {
        out.say(title);
        out.picture = draw::owners(&tile);
    }
}

fn linear(spec: &LayoutSpec, out: &mut Described) -> Option<()> {
    let (registers, lanes, warps) = (spec.bases("register")?, spec.bases("lane")?, spec.bases("warp")?);
    let count = |bases: &[Vec<i64>]| 1u64.checked_shl(bases.len() as u32).unwrap_or(0);
    out.say(format!(
        "A tensor in registers, linear: {} registers a thread, {} threads a warp, {} warps. Each bit of their numbers moves \
         the element by its basis.",
        count(&registers),
        count(&lanes),
        count(&warps)
    ));
    picture(spec, "Warp and thread of each cell, by row and column of its first element:", out);
    Some(())
}

fn slice(spec: &LayoutSpec, out: &mut Described) -> Option<()> {
    let (dim, parent) = (spec.int("dim")?, spec.layout("parent")?);
    out.say(format!(
        "A tensor in registers: what is left of the layout below without its dimension {dim}. All threads along that \
         dimension hold the same element."
    ));
    let of = describe(parent, None);
    out.words.extend(of.words);
    out.picture = of.picture;
    Some(())
}

fn nvidia_mma(spec: &LayoutSpec, out: &mut Described) -> Option<()> {
    let (major, warps) = (spec.int("versionMajor")?, spec.ints("warpsPerCTA")?);
    let instr = spec.ints("instrShape").unwrap_or_default();
    let what = match major {
        1 => "mma.sync of Volta",
        2 => "mma.sync",
        3 => "wgmma",
        _ => "an MMA",
    };
    let shape = match instr.as_slice() {
        [] => String::new(),
        [m, n] => format!(", {m}x{n} an instruction"),
        [m, n, k] => format!(", {m}x{n} an instruction and {k} elements deep"),
        other => format!(", {} an instruction", sizes(other)),
    };
    out.say(format!("The accumulator of {what} in registers{shape}; warps stand {}.", sizes(&warps)));
    if major == 3 {
        out.say("Four warps work together, each on 16 rows.");
    }
    picture(
        spec,
        "Of each 16x8 block a thread holds two elements next to each other, here and eight rows below. Its threads:",
        out,
    );
    Some(())
}

fn amd(spec: &LayoutSpec, out: &mut Described) -> Option<()> {
    let warps = spec.ints("warpsPerCTA").map_or_else(String::new, |warps| format!("; warps stand {}", sizes(&warps)));
    let what = if spec.kind.ends_with("mfma") { "MFMA" } else { "WMMA" };
    let instr = spec.ints("instrShape").map_or_else(String::new, |instr| format!(", {} an instruction", sizes(&instr)));
    out.say(format!("The accumulator of AMD's {what} in registers{instr}{warps}."));
    if spec.int("isTransposed") == Some(1) {
        out.say("It is transposed: a thread holds elements next to each other of a row.");
    }
    Some(())
}

fn dot_operand(spec: &LayoutSpec, out: &mut Described) -> Option<()> {
    let which = if spec.int("opIdx")? == 0 { "A, the left one" } else { "B, the right one" };
    let width = spec.int("kWidth").filter(|width| *width > 0);
    let held = width.map_or_else(String::new, |width| {
        format!(" Each thread holds {width} elements next to each other along the dimension that is summed over.")
    });
    out.say(format!("Operand {which}, of a matrix product, in registers.{held}"));
    if let Some(parent) = spec.layout("parent") {
        let of = describe(parent, None);
        out.say("Its result has this layout:");
        out.words.extend(of.words);
        out.picture = of.picture;
    }
    Some(())
}

fn swizzled(spec: &LayoutSpec, shape: Option<&[i64]>, out: &mut Described) -> Option<()> {
    let order = spec.ints("order").unwrap_or_default();
    let fast = order.first().and_then(|dim| usize::try_from(*dim).ok());
    let row = fast.and_then(|dim| shape?.get(dim).copied());
    let own = Swizzle::of_swizzled(spec, row)?;
    let along = match order.as_slice() {
        [] | [_] => "Shared memory, element after element.".to_owned(),
        [first, ..] => format!("Shared memory; elements along dimension {first} lie next to each other."),
    };
    out.say(along);
    if !own.moves() {
        out.say("Nothing is swizzled.");
        return Some(());
    }
    out.say(format!(
        "Swizzled: chunks of {} elements stay together; every {} the chunks of a row change places, in {} ways.",
        own.vec,
        if own.per_phase == 1 { "row".to_owned() } else { format!("{} rows", own.per_phase) },
        own.max_phase
    ));
    out.say("Which chunk of a row lies where:");
    out.picture = draw::swizzle(&own);
    Some(())
}

fn nvmma(spec: &LayoutSpec, shape: Option<&[i64]>, out: &mut Described) -> Option<()> {
    let (width, bits) = (spec.int("swizzlingByteWidth")?, spec.int("elementBitWidth")?);
    let transposed = spec.int("transposed") == Some(1);
    out.say(format!(
        "Shared memory as TMA and the tensor core want it, for elements of {bits} bits; {}.",
        if transposed { "transposed, so that columns lie whole" } else { "rows lie whole" }
    ));
    if spec.int("fp4Padded") == Some(1) {
        out.say("4-bit floats: 8 bytes of data and 8 bytes of padding in 16 bytes.");
    }
    let Some(own) = Swizzle::of_nvmma(spec) else {
        if width != 0 {
            return None;
        }
        out.say("Nothing is swizzled: blocks of 8 rows and 16 bytes.");
        return Some(());
    };
    let per_row = width * 8 / bits;
    out.say(format!(
        "Swizzled in rows of {width} bytes ({per_row} elements) and chunks of 16 bytes ({} elements); the pattern repeats \
         every 8 rows.",
        own.vec
    ));
    let inner = shape.filter(|shape| shape.len() >= 2).and_then(|shape| {
        let at = if transposed { shape.len() - 2 } else { shape.len() - 1 };
        shape.get(at).copied()
    });
    if let Some(inner) = inner.filter(|inner| *inner > per_row && spec.int("fp4Padded") != Some(1)) {
        out.say(format!(
            "{inner} elements are longer than a row, so {} blocks of {per_row} lie one after the other.",
            (inner + per_row - 1) / per_row
        ));
    }
    out.say("Which chunk of a row lies where:");
    out.picture = draw::swizzle(&own);
    Some(())
}

fn padded(spec: &LayoutSpec, out: &mut Described) -> Option<()> {
    let pairs: Vec<(&str, &str)> = spec.words("")?.iter().filter_map(|pair| pair.split_once(":+")).collect();
    let said: Vec<String> = pairs.iter().map(|(every, by)| format!("{by} after every {every}")).collect();
    out.say(format!("Shared memory with padding between elements: {}.", said.join(", ")));
    Some(())
}

fn shared_linear(spec: &LayoutSpec, out: &mut Described) -> Option<()> {
    let offsets = spec.bases("offset")?;
    out.say(format!(
        "Shared memory, linear: {} elements; each bit of an element's place moves it by its basis, and bits add by exclusive \
         or.",
        1u64.checked_shl(offsets.len() as u32).unwrap_or(0)
    ));
    let lines = offsets.iter().enumerate().take(16).map(|(bit, basis)| {
        let basis: Vec<String> = basis.iter().map(i64::to_string).collect();
        format!("place {:>5} -> [{}]", 1u64.checked_shl(bit as u32).unwrap_or(0), basis.join(", "))
    });
    out.picture = lines.collect::<Vec<_>>().join("\n");
    Some(())
}

fn tensor_memory(spec: &LayoutSpec, shape: Option<&[i64]>, out: &mut Described) -> Option<()> {
    let (rows, columns) = (spec.int("blockM")?, spec.int("blockN")?);
    let stride = spec.int("colStride").unwrap_or(1);
    out.say(format!("Tensor memory in blocks of {rows} rows and {columns} columns."));
    match rows {
        128 => out.say("Row r of a block is lane r."),
        64 => out.say("A block takes half of the 128 lanes."),
        _ => {}
    }
    if stride > 1 {
        out.say(format!("Elements stand {stride} apart along the columns."));
    }
    if let Some(&[.., m, n]) = shape
        && rows > 0
        && columns > 0
        && (m > rows || n > columns)
    {
        out.say(format!(
            "{m}x{n} is {} blocks down and {} across.",
            (m + rows - 1) / rows,
            (n + columns - 1) / columns
        ));
    }
    if spec.int("twoCTAs") == Some(1) {
        out.say("Two CTAs share it.");
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::read::read;
    use super::*;

    fn said(text: &str, shape: Option<&[i64]>) -> String {
        let described = describe(&read(text, &|_| None).expect("a layout"), shape);
        described.words.join(" ")
    }

    #[test]
    fn a_tensor_that_is_larger_or_smaller_than_the_tile() {
        let text =
            "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>";
        let larger = said(text, Some(&[128, 64]));
        assert!(larger.contains("hold 32x32 elements once; 128x64 repeats that 4x2 times."), "{larger}");
        let smaller = said(text, Some(&[16, 32]));
        assert!(smaller.contains("16x32 is smaller, so several threads hold the same element"), "{smaller}");
    }

    #[test]
    fn wide_rows_are_cut_into_blocks() {
        let text = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>";
        let wide = said(text, Some(&[64, 128]));
        assert!(wide.contains("rows of 128 bytes (64 elements) and chunks of 16 bytes (8 elements)"), "{wide}");
        assert!(wide.contains("128 elements are longer than a row, so 2 blocks of 64"), "{wide}");
        assert!(!said(text, Some(&[128, 64])).contains("longer than a row"));
        let transposed = said(&text.replace("transposed = false", "transposed = true"), Some(&[128, 64]));
        assert!(transposed.contains("128 elements are longer than a row"), "{transposed}");
    }

    #[test]
    fn what_is_not_known_is_named() {
        assert!(said("#x.strange<{a = 1}>", None).contains("`x.strange`"));
        assert!(said("#ttg.blocked<{order = [0]}>", None).contains("nothing more is known"));
    }
}
