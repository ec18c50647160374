//! Where the fixtures' sources lie.

use crate::page::{Lang, Page};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of this package: where it was built or, for a program that is run on another machine, in the checkout
/// that is the current folder.
pub fn root() -> PathBuf {
    let built = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    if built.is_dir() { built } else { PathBuf::from("tests") }
}

/// Paths of all pages: those of the kinds, then the suites.
pub fn pages() -> Vec<PathBuf> {
    let mut paths = files(&root().join("../analysis/findings/src/pages"), "md");
    paths.extend(files(&root().join("pages"), "md"));
    paths
}

/// Reads a page.
pub fn read(path: &Path) -> Result<Page, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    Page::parse(name, text).map_err(|error| error.to_string())
}

/// All TTGIR sources of the pages, with a name each.
pub fn sources() -> Vec<(String, String)> {
    let pages = pages().into_iter().filter_map(|path| read(&path).ok());
    pages
        .flat_map(|page| {
            let blocks: Vec<(String, String)> = page
                .cases
                .iter()
                .flat_map(|case| &case.blocks)
                .filter(|block| block.lang == Lang::Ttgir)
                .map(|block| (format!("{}:{}", page.path, block.line), block.text.clone()))
                .collect();
            blocks
        })
        .collect()
}

/// The kernels of the corpus and of `kernels/`, broken twins too, with a name each.
pub fn corpus() -> Vec<(String, String)> {
    let mut paths = files(&root().join("kernels"), "ttgir");
    let Ok(entries) = fs::read_dir(root().join("corpus/ttgir")) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    paths.extend(folders.iter().flat_map(|folder| files(folder, "ttgir")));
    let named = paths.iter().filter_map(|path| {
        let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
        Some((name, fs::read_to_string(path).ok()?))
    });
    named.collect()
}

/// The files of a folder with this extension, by name.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths
}
