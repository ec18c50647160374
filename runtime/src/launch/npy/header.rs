//! The header of a `.npy` file: a Python dictionary with type, order and shape.

use tensors::array::ElemType;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Data start at a multiple of this.
const ALIGN: usize = 64;

/// What is in front of the data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct NpyHeader {
    pub(super) class: ElementClass,
    /// Bytes of an element.
    pub(super) width: usize,
    pub(super) big_endian: bool,
    pub(super) fortran: bool,
    pub(super) shape: Vec<u64>,
}

/// How NumPy reads an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ElementClass {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// Bytes that NumPy knows nothing of.
    Raw,
}

impl NpyHeader {
    /// The header, and what follows it.
    pub(super) fn read(bytes: &[u8]) -> Result<(NpyHeader, &[u8]), String> {
        let rest = bytes.strip_prefix(MAGIC).ok_or("is no `.npy` file")?;
        let (length, rest) = match *rest {
            [1, _, a, b, ref rest @ ..] => (u32::from(u16::from_le_bytes([a, b])), rest),
            [2 | 3, _, a, b, c, d, ref rest @ ..] => (u32::from_le_bytes([a, b, c, d]), rest),
            [version, ..] => return Err(format!("version {version} of the format is not known")),
            [] => return Err("the file ends too early".to_owned()),
        };
        let text = rest.get(..length as usize).ok_or("the file ends too early")?;
        let text = std::str::from_utf8(text).map_err(|_| "its header is no text")?;
        let data = rest.get(length as usize..).unwrap_or(&[]);
        Ok((NpyHeader::parse(text)?, data))
    }

    fn parse(text: &str) -> Result<NpyHeader, String> {
        let after = |key: &str| {
            let quoted = [format!("'{key}'"), format!("\"{key}\"")];
            let end = quoted.iter().find_map(|quoted| text.find(quoted.as_str()).map(|at| at + quoted.len()));
            let rest = end.and_then(|end| text.get(end..)).ok_or(format!("its header has no `{key}`"))?;
            rest.trim_start().strip_prefix(':').map(str::trim_start).ok_or(format!("its header has no `{key}`"))
        };
        let descr = after("descr")?;
        let quote = descr.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
        let descr = quote.and_then(|quote| descr.get(1..)?.split(quote).next());
        let descr = descr.ok_or("structured types are not read")?;
        let fortran = after("fortran_order")?.starts_with("True");
        let shape = after("shape")?.strip_prefix('(').and_then(|rest| rest.split(')').next());
        let sizes = shape.ok_or("its shape cannot be read")?.split(',').map(str::trim).filter(|size| !size.is_empty());
        let sizes: Result<Vec<u64>, _> = sizes.map(|size| size.trim_end_matches('L').parse()).collect();
        let (class, width, big_endian) = element(descr).ok_or(format!("elements of type `{descr}` are not read"))?;
        Ok(NpyHeader { class, width, big_endian, fortran, shape: sizes.map_err(|_| "its shape cannot be read")? })
    }

    /// The type of the elements: what they are, unless their bytes are those of what is wanted.
    pub(super) fn dtype(&self, wanted: Option<ElemType>) -> Result<ElemType, String> {
        if let Some(wanted) = wanted.filter(|wanted| self.holds(*wanted)) {
            return Ok(wanted);
        }
        Ok(match (self.class, self.width) {
            (ElementClass::Bool, 1) => ElemType::I1,
            (ElementClass::Signed | ElementClass::Unsigned, 1) => ElemType::I8,
            (ElementClass::Signed | ElementClass::Unsigned, 2) => ElemType::I16,
            (ElementClass::Signed | ElementClass::Unsigned, 4) => ElemType::I32,
            (ElementClass::Signed | ElementClass::Unsigned, 8) => ElemType::I64,
            (ElementClass::Float, 2) => ElemType::F16,
            (ElementClass::Float, 4) => ElemType::F32,
            (ElementClass::Float, 8) => ElemType::F64,
            (ElementClass::Raw, 2) => ElemType::BF16,
            (_, width) => {
                return Err(format!(
                    "elements of {width} bytes are of no type that is known: give one, `f8E5M2[…]:file(…)`"
                ));
            }
        })
    }

    /// Whether the bytes of an element are one of this type as they are: the same type, or a type that NumPy has
    /// no name for, as plain bytes or unsigned integers.
    pub(super) fn holds(&self, wanted: ElemType) -> bool {
        if self.width != wanted.bytes() {
            return false;
        }
        match (self.class, wanted) {
            (ElementClass::Raw, _) => true,
            (ElementClass::Bool, wanted) => wanted == ElemType::I1,
            // Packages that add floats of a byte call all of them `f1`.
            (ElementClass::Float, wanted) if self.width == 1 => !wanted.is_int(),
            (ElementClass::Float, wanted) => matches!(wanted, ElemType::F16 | ElemType::F32 | ElemType::F64),
            (ElementClass::Signed, wanted) => wanted.is_int() && wanted != ElemType::I1,
            (ElementClass::Unsigned, ElemType::I1 | ElemType::F16 | ElemType::F32 | ElemType::F64) => false,
            (ElementClass::Unsigned, _) => true,
        }
    }
}

/// `<f4`, `|u1`, `>i8`.
fn element(descr: &str) -> Option<(ElementClass, usize, bool)> {
    let (big_endian, rest) = match descr.strip_prefix(['<', '|', '=']) {
        Some(rest) => (false, rest),
        None => (true, descr.strip_prefix('>')?),
    };
    let mut letters = rest.chars();
    let class = match letters.next()? {
        'b' => ElementClass::Bool,
        'i' => ElementClass::Signed,
        'u' => ElementClass::Unsigned,
        'f' => ElementClass::Float,
        'V' => ElementClass::Raw,
        _ => return None,
    };
    let width = letters.as_str().parse().ok().filter(|width| (1..=8).contains(width))?;
    Some((class, width, big_endian))
}

/// How a type is called, and whether it is written as a `float32`.
pub(super) fn descr(dtype: ElemType) -> (&'static str, bool) {
    match dtype {
        ElemType::I1 => ("|b1", false),
        ElemType::I8 => ("|i1", false),
        ElemType::I16 => ("<i2", false),
        ElemType::I32 => ("<i4", false),
        ElemType::I64 => ("<i8", false),
        ElemType::F16 => ("<f2", false),
        ElemType::F32 => ("<f4", false),
        ElemType::F64 => ("<f8", false),
        _ => ("<f4", true),
    }
}

/// The header, padded.
pub(super) fn write(descr: &str, shape: &[u64]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    let sizes = sizes.join(", ");
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}{comma}), }}");
    let before = MAGIC.len() + 4;
    let end = (before + text.len() + 1).next_multiple_of(ALIGN);
    text.extend(std::iter::repeat_n(' ', end - before - text.len() - 1));
    text.push('\n');
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&[1, 0]);
    out.extend_from_slice(&(text.len() as u16).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    out
}
