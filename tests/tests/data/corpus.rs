//! Every kernel of the corpus is clean, every broken twin is found where it is broken.
//!
//! `tests/open.txt` lists the files on which the analysis is known to be wrong, with a word on why.

use fencepost_tests::corpus::{check, manifest};
use fencepost_tests::known::{Case, with_failing};
use fencepost_tests::sources::root;

pub(crate) fn cases() -> Result<Vec<Case>, String> {
    let folder = root().join("corpus");
    let case = |row: fencepost_tests::corpus::Row| {
        let folder = folder.clone();
        Case::new(row.file.clone(), move || check(&folder, &row))
    };
    with_failing("open.txt", manifest(&folder)?.into_iter().map(case).collect())
}
