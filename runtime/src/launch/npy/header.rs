//! The header of a `.npy` file: a Python dictionary with type, order and shape.

use crate::array::DType;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Data start at a multiple of this.
const ALIGN: usize = 64;

/// What is in front of the data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) class: Class,
    /// Bytes of an element.
    pub(super) width: usize,
    pub(super) big_endian: bool,
    pub(super) fortran: bool,
    pub(super) shape: Vec<u64>,
}

/// How NumPy reads an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// Bytes that NumPy knows nothing of.
    Raw,
}

impl Header {
    /// The header, and what follows it.
    pub(super) fn read(bytes: &[u8]) -> Result<(Header, &[u8]), String> {
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
        Ok((Header::parse(text)?, data))
    }

    fn parse(text: &str) -> Result<Header, String> {
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
        Ok(Header { class, width, big_endian, fortran, shape: sizes.map_err(|_| "its shape cannot be read")? })
    }

    /// The type of the elements: what they are, unless their bytes are those of what is wanted.
    pub(super) fn dtype(&self, wanted: Option<DType>) -> Result<DType, String> {
        if let Some(wanted) = wanted.filter(|wanted| self.holds(*wanted)) {
            return Ok(wanted);
        }
        Ok(match (self.class, self.width) {
            (Class::Bool, 1) => DType::I1,
            (Class::Signed | Class::Unsigned, 1) => DType::I8,
            (Class::Signed | Class::Unsigned, 2) => DType::I16,
            (Class::Signed | Class::Unsigned, 4) => DType::I32,
            (Class::Signed | Class::Unsigned, 8) => DType::I64,
            (Class::Float, 2) => DType::F16,
            (Class::Float, 4) => DType::F32,
            (Class::Float, 8) => DType::F64,
            (Class::Raw, 2) => DType::BF16,
            (_, width) => {
                return Err(format!(
                    "elements of {width} bytes are of no type that is known: give one, `f8E5M2[…]:file(…)`"
                ));
            }
        })
    }

    /// Whether the bytes of an element are one of this type as they are: the same type, or a type that NumPy has
    /// no name for, as plain bytes or unsigned integers.
    pub(super) fn holds(&self, wanted: DType) -> bool {
        if self.width != wanted.bytes() {
            return false;
        }
        match (self.class, wanted) {
            (Class::Raw, _) => true,
            (Class::Bool, wanted) => wanted == DType::I1,
            (Class::Float, wanted) => matches!(wanted, DType::F16 | DType::F32 | DType::F64),
            (Class::Signed, wanted) => wanted.is_int() && wanted != DType::I1,
            (Class::Unsigned, DType::I1 | DType::F16 | DType::F32 | DType::F64) => false,
            (Class::Unsigned, _) => true,
        }
    }
}

/// `<f4`, `|u1`, `>i8`.
fn element(descr: &str) -> Option<(Class, usize, bool)> {
    let (big_endian, rest) = match descr.strip_prefix(['<', '|', '=']) {
        Some(rest) => (false, rest),
        None => (true, descr.strip_prefix('>')?),
    };
    let mut letters = rest.chars();
    let class = match letters.next()? {
        'b' => Class::Bool,
        'i' => Class::Signed,
        'u' => Class::Unsigned,
        'f' => Class::Float,
        'V' => Class::Raw,
        _ => return None,
    };
    let width = letters.as_str().parse().ok().filter(|width| (1..=8).contains(width))?;
    Some((class, width, big_endian))
}

/// How a type is called, and whether it is written as a `float32`.
pub(super) fn descr(dtype: DType) -> (&'static str, bool) {
    match dtype {
        DType::I1 => ("|b1", false),
        DType::I8 => ("|i1", false),
        DType::I16 => ("<i2", false),
        DType::I32 => ("<i4", false),
        DType::I64 => ("<i8", false),
        DType::F16 => ("<f2", false),
        DType::F32 => ("<f4", false),
        DType::F64 => ("<f8", false),
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
