//! As much of zip archives as NumPy uses: members that are stored or deflated, no encryption, no parts.
//!
//! Archives and members of 4 GiB or more, which need the format's second form, are read where the directory
//! gives their sizes in the old one, and are not written.

use std::io;

use crate::number::little;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

const LOCAL: &[u8] = b"PK\x03\x04";
const ENTRY: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
/// Of the record at the end, without its comment.
const END_BYTES: usize = 22;
/// A comment is no longer.
const COMMENT: usize = 1 << 16;

/// A member, as the directory describes it.
struct Member<'a> {
    name: &'a str,
    method: u64,
    packed: usize,
    size: usize,
    check: u32,
    at: usize,
}

/// Whether these bytes are an archive.
pub(super) fn is(bytes: &[u8]) -> bool {
    bytes.starts_with(LOCAL) || bytes.starts_with(END)
}

/// The names of the arrays.
pub(super) fn names(bytes: &[u8]) -> Result<Vec<String>, String> {
    Ok(directory(bytes)?.iter().filter_map(|member| member.name.strip_suffix(".npy")).map(str::to_owned).collect())
}

/// The bytes of an array's file; of the only one, if none is named.
pub(super) fn member(bytes: &[u8], name: Option<&str>) -> Result<Vec<u8>, String> {
    let members = directory(bytes)?;
    let has = || members.iter().map(|member| member.name.trim_end_matches(".npy")).collect::<Vec<_>>().join("`, `");
    let found = match (name, members.as_slice()) {
        (None, [only]) => only,
        (None, _) => return Err(format!("which array? It holds `{}`", has())),
        (Some(name), _) => {
            let found = members.iter().find(|member| member.name.trim_end_matches(".npy") == name);
            found.ok_or_else(|| format!("there is no `{name}`; it holds `{}`", has()))?
        }
    };
    found.read(bytes)
}

fn field(bytes: &[u8], at: usize, width: usize) -> Result<u64, String> {
    bytes.get(at..at.saturating_add(width)).map(little).ok_or_else(|| "the archive ends too early".to_owned())
}

fn directory(bytes: &[u8]) -> Result<Vec<Member<'_>>, String> {
    let tail = bytes.len().saturating_sub(END_BYTES + COMMENT);
    let end = bytes.get(tail..).and_then(|tail| tail.windows(4).rposition(|window| window == END));
    let end = tail + end.ok_or("the archive has no directory; it was not written whole")?;
    field(bytes, end + END_BYTES - 2, 2)?;
    let count = field(bytes, end + 10, 2)?;
    let mut at = field(bytes, end + 16, 4)? as usize;
    let mut members = Vec::new();
    for _ in 0..count {
        if bytes.get(at..at + 4) != Some(ENTRY) {
            return Err("the archive's directory cannot be read".to_owned());
        }
        let short = |offset| field(bytes, at + offset, 2);
        let long = |offset| field(bytes, at + offset, 4);
        let length = short(28)? as usize;
        let name = bytes.get(at + 46..at + 46 + length).and_then(|name| std::str::from_utf8(name).ok());
        let (packed, size, place) = (long(20)? as usize, long(24)? as usize, long(42)? as usize);
        if [packed, size, place].contains(&0xffff_ffff) {
            return Err("archives of 4 GiB and more are not read".to_owned());
        }
        let name = name.ok_or("the archive's directory cannot be read")?;
        members.push(Member { name, method: short(10)?, packed, size, check: long(16)? as u32, at: place });
        at += 46 + length + short(30)? as usize + short(32)? as usize;
    }
    Ok(members)
}

impl Member<'_> {
    fn read(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let start = self.at + 30 + field(bytes, self.at + 26, 2)? as usize + field(bytes, self.at + 28, 2)? as usize;
        let packed = bytes.get(start..start.saturating_add(self.packed)).ok_or("the archive ends too early")?;
        let out = match self.method {
            0 => packed.to_vec(),
            8 => decompress_to_vec_with_limit(packed, self.size)
                .map_err(|_| format!("`{}` cannot be unpacked", self.name))?,
            _ => return Err(format!("`{}` is packed in a way that is not read; use `numpy.savez`", self.name)),
        };
        if out.len() != self.size || crc32(&out) != self.check {
            return Err(format!("`{}` is damaged", self.name));
        }
        Ok(out)
    }
}

/// An archive of stored members.
pub(super) fn write(members: &[(String, Vec<u8>)]) -> io::Result<Vec<u8>> {
    let large = || io::Error::other("a `.npz` file of 4 GiB or more is not written; use `.npy` files");
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in members {
        let at = u32::try_from(out.len()).map_err(|_| large())?;
        let size = u32::try_from(data.len()).map_err(|_| large())?;
        // Version 2.0, no flags, stored, 1980-01-01 00:00: the same bytes for the same arrays.
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        common.extend_from_slice(&crc32(data).to_le_bytes());
        common.extend_from_slice(&size.to_le_bytes());
        common.extend_from_slice(&size.to_le_bytes());
        common.extend_from_slice(&(u16::try_from(name.len()).map_err(|_| large())?).to_le_bytes());
        common.extend_from_slice(&[0, 0]);
        out.extend_from_slice(LOCAL);
        out.extend_from_slice(&common);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(data);
        directory.extend_from_slice(ENTRY);
        directory.extend_from_slice(&[20, 0]);
        directory.extend_from_slice(&common);
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&at.to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
    }
    let at = u32::try_from(out.len()).map_err(|_| large())?;
    let count = u16::try_from(members.len()).map_err(|_| large())?.to_le_bytes();
    out.extend_from_slice(&directory);
    out.extend_from_slice(END);
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&count);
    out.extend_from_slice(&count);
    out.extend_from_slice(&(directory.len() as u32).to_le_bytes());
    out.extend_from_slice(&at.to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    Ok(out)
}

/// The checksum of ISO 3309, as zip uses it.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |word: u32| if word & 1 == 1 { word >> 1 ^ 0xedb8_8320 } else { word >> 1 };
    let mut table = [0u32; 256];
    for (word, entry) in (0u32..).zip(&mut table) {
        *entry = (0..8).fold(word, |word, _| step(word));
    }
    let next = |sum: u32, byte: &u8| sum >> 8 ^ table.get((sum as u8 ^ byte) as usize).copied().unwrap_or(0);
    !bytes.iter().fold(u32::MAX, next)
}
