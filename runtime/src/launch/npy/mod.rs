//! NumPy's files: `.npy`, one array, and `.npz`, a zip archive of such files.
//!
//! Read from NEP 1 ("a simple file format for NumPy arrays") in its versions 1 to 3. What NumPy has no type for
//! is written as `float32`, which holds it exactly, and is read from raw bytes of the same width (`|V2`, `<u2`),
//! as packages write that add such types.
//!
//! Missed: structured types, complex numbers, strings and objects.

mod archive;
mod header;

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::element::{decode, encode, from_le};
use crate::limits::npy::{FILE as BYTES, HEADER};
use header::{ElementClass, NpyHeader};
use tensors::array::{Array, ElemType, offsets, strides};

/// Reads a `.npy` file, or a member of a `.npz` file (the only one, if it is not named).
///
/// # Errors
///
/// What is wrong with the file, in words that name it.
pub fn load(path: &Path, member: Option<&str>, wanted: Option<ElemType>) -> Result<Array, String> {
    let named = |why: String| format!("{}: {why}", path.display());
    let length = fs::metadata(path).map_err(|error| named(error.to_string()))?.len();
    if length > BYTES {
        return Err(named(format!("larger than {} GiB", BYTES >> 30)));
    }
    let bytes = fs::read(path).map_err(|error| named(error.to_string()))?;
    if archive::is_archive(&bytes) {
        let member = archive::member(&bytes, member).map_err(named)?;
        return parse(&member, wanted).map_err(named);
    }
    if member.is_some() {
        return Err(named("holds one array and no members".to_owned()));
    }
    parse(&bytes, wanted).map_err(named)
}

/// The arrays of a `.npz` file by name, or that of a `.npy` file under an empty name.
///
/// # Errors
///
/// What is wrong with the file, in words that name it.
pub fn load_all(path: &Path) -> Result<Vec<(String, Array)>, String> {
    let named = |why: String| format!("{}: {why}", path.display());
    let bytes = fs::read(path).map_err(|error| named(error.to_string()))?;
    if !archive::is_archive(&bytes) {
        return Ok(vec![(String::new(), parse(&bytes, None).map_err(named)?)]);
    }
    let names = archive::names(&bytes).map_err(named)?;
    let read = |name: String| {
        let array = archive::member(&bytes, Some(&name)).and_then(|member| parse(&member, None));
        array.map(|array| (name.clone(), array)).map_err(|why| named(format!("`{name}`: {why}")))
    };
    names.into_iter().map(read).collect()
}

/// Type of what [`load`] would read, whether its integers have no sign, and its shape.
///
/// # Errors
///
/// What is wrong with the file, in words that name it.
pub fn peek(path: &Path, member: Option<&str>) -> Result<(ElemType, bool, Vec<u64>), String> {
    let named = |why: String| format!("{}: {why}", path.display());
    let file = fs::File::open(path).map_err(|error| named(error.to_string()))?;
    let mut start = Vec::new();
    file.take(HEADER).read_to_end(&mut start).map_err(|error| named(error.to_string()))?;
    if archive::is_archive(&start) {
        let bytes = fs::read(path).map_err(|error| named(error.to_string()))?;
        start = archive::member(&bytes, member).map_err(named)?;
    } else if member.is_some() {
        return Err(named("holds one array and no members".to_owned()));
    }
    let (header, _) = NpyHeader::read(&start).map_err(named)?;
    let dtype = header.dtype(None).map_err(named)?;
    Ok((dtype, header.class == ElementClass::Unsigned, header.shape))
}

/// Reads the bytes of a `.npy` file.
///
/// # Errors
///
/// What is wrong with them.
pub fn parse(bytes: &[u8], wanted: Option<ElemType>) -> Result<Array, String> {
    let (header, data) = NpyHeader::read(bytes)?;
    let dtype = header.dtype(wanted)?;
    let elements = header.shape.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
    let length = elements.and_then(|elements| elements.checked_mul(header.width as u64));
    let data = length.and_then(|length| data.get(..usize::try_from(length).ok()?)).ok_or("the file ends too early")?;
    let mut data = data.to_vec();
    if header.big_endian {
        data.chunks_exact_mut(header.width).for_each(<[u8]>::reverse);
    }
    if header.fortran {
        data = transposed(&data, &header.shape, header.width);
    }
    let raw = Array { dtype, shape: header.shape.clone(), bytes: data };
    Ok(match wanted {
        Some(wanted) if !header.holds(wanted) => converted(&raw, header.class, header.width, wanted),
        _ => raw,
    })
}

/// Column-major elements in row-major order.
fn transposed(data: &[u8], shape: &[u64], width: usize) -> Vec<u8> {
    let reversed: Vec<u64> = shape.iter().rev().copied().collect();
    let column_major: Vec<u64> = strides(&reversed).into_iter().rev().collect();
    let elements =
        offsets(shape, &column_major).filter_map(|at| data.get(at as usize * width..(at as usize + 1) * width));
    elements.flatten().copied().collect()
}

/// Each number in another type.
fn converted(raw: &Array, class: ElementClass, width: usize, wanted: ElemType) -> Array {
    let size = wanted.bytes();
    let mut bytes = Vec::with_capacity(raw.bytes.len() / width.max(1) * size);
    for element in raw.bytes.chunks_exact(width) {
        let word = from_le(element);
        let value = match class {
            ElementClass::Unsigned => word as f64,
            _ => decode(raw.dtype, word),
        };
        // Integers of 64 bits are no floats.
        let word = match class {
            ElementClass::Unsigned | ElementClass::Signed if wanted.is_int() && wanted != ElemType::I1 => {
                extended(word, width, class)
            }
            _ => encode(wanted, value),
        };
        bytes.extend_from_slice(word.to_le_bytes().get(..size).unwrap_or(&[]));
    }
    Array { dtype: wanted, shape: raw.shape.clone(), bytes }
}

fn extended(word: u64, width: usize, class: ElementClass) -> u64 {
    let unused = 64u32.saturating_sub(8 * width as u32);
    match class {
        ElementClass::Signed => ((word << unused) as i64 >> unused) as u64,
        _ => word,
    }
}

/// Writes a `.npy` file; one that could not be written whole is removed.
///
/// # Errors
///
/// The system's error.
pub fn save(path: &Path, array: &Array) -> io::Result<()> {
    written(path, &print(array, false))
}

/// The same of integers that have no sign.
///
/// # Errors
///
/// The system's error.
pub fn save_unsigned(path: &Path, array: &Array) -> io::Result<()> {
    written(path, &print(array, true))
}

/// Writes a `.npz` file; one that could not be written whole is removed.
///
/// # Errors
///
/// The system's, and where it would be larger than such a file can be.
pub fn save_all(path: &Path, arrays: &[(String, Array)]) -> io::Result<()> {
    let members: Vec<(String, Vec<u8>)> =
        arrays.iter().map(|(name, array)| (format!("{name}.npy"), print(array, false))).collect();
    written(path, &archive::write(&members)?)
}

fn written(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let write = || {
        let mut file = fs::File::create(path)?;
        file.write_all(bytes)?;
        file.sync_data()
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(path);
    })
}

/// The bytes of a `.npy` file; integers have a sign or none.
pub fn print(array: &Array, unsigned: bool) -> Vec<u8> {
    let (descr, widened) = header::descr(array.dtype);
    let descr = if unsigned { descr.replace('i', "u") } else { descr.to_owned() };
    let mut out = header::write(&descr, &array.shape);
    if !widened {
        out.extend_from_slice(&array.bytes);
        return out;
    }
    for word in crate::element::bits(array) {
        out.extend_from_slice(&(decode(array.dtype, word) as f32).to_le_bytes());
    }
    out
}

#[cfg(test)]
mod tests;
