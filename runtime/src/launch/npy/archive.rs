//! The arrays of a `.npz` file: a zip archive whose members are stored or deflated `.npy` files.

use std::io::{self, Cursor, Read, Write};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Whether these bytes begin as an archive does; an empty archive begins with its directory's end.
pub(super) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

fn open(bytes: &[u8]) -> Result<ZipArchive<Cursor<&[u8]>>, String> {
    ZipArchive::new(Cursor::new(bytes)).map_err(|error| format!("the archive cannot be read: {error}"))
}

/// The names of the arrays.
pub(super) fn names(bytes: &[u8]) -> Result<Vec<String>, String> {
    let archive = open(bytes)?;
    let members = archive.file_names().flatten();
    Ok(members.filter_map(|member| member.strip_suffix(".npy").map(str::to_owned)).collect())
}

/// The bytes of an array's file; of the only one, if none is named.
pub(super) fn member(bytes: &[u8], name: Option<&str>) -> Result<Vec<u8>, String> {
    let mut archive = open(bytes)?;
    let members: Vec<String> = archive.file_names().flatten().map(|member| member.into_owned()).collect();
    let arrays = || members.iter().map(|member| member.trim_end_matches(".npy")).collect::<Vec<_>>().join("`, `");
    let found = match (name, members.as_slice()) {
        (None, [only]) => only,
        (None, _) => return Err(format!("which array? It holds `{}`", arrays())),
        (Some(name), _) => {
            let found = members.iter().find(|member| member.trim_end_matches(".npy") == name);
            found.ok_or_else(|| format!("there is no `{name}`; it holds `{}`", arrays()))?
        }
    };
    let file = archive.by_name(found).map_err(|error| match error {
        ZipError::UnsupportedArchive(_) => {
            format!("`{found}` is packed in a way that is not read; use `numpy.savez`")
        }
        error => format!("`{found}` cannot be unpacked: {error}"),
    })?;
    // One byte more than it says it has: so the checksum is looked at, and no member unpacks without end.
    let size = file.size();
    let mut out = Vec::new();
    let read = file.take(size.saturating_add(1)).read_to_end(&mut out);
    match read {
        Ok(read) if read as u64 == size => Ok(out),
        _ => Err(format!("`{found}` is damaged")),
    }
}

/// An archive of stored members, the same bytes for the same arrays.
pub(super) fn write(members: &[(String, Vec<u8>)]) -> io::Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, data) in members {
        let large = u32::try_from(data.len()).is_err();
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(large);
        archive.start_file(name.as_str(), options)?;
        archive.write_all(data)?;
    }
    Ok(archive.finish()?.into_inner())
}
