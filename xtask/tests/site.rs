//! The documentation as a site: every link leads somewhere, and mdbook, where it is installed, builds it.

use std::io::Write;

#[test]
fn every_link_of_the_site_leads_somewhere() {
    let site = xtask::site::assemble(&xtask::root());
    assert!(site.problems.is_empty(), "\n{}\n", site.problems.join("\n"));
    let has = |path: &str| site.files.iter().any(|file| file.path == path);
    for page in
        ["SUMMARY.md", "index.md", "first-kernel.md", "kinds.md", "kinds/deadlock.md", "editors/nvim.md", "trace.svg"]
    {
        assert!(has(page), "{page} is not in the site");
    }
}

#[test]
fn the_site_is_built() {
    let Some(mdbook) = xtask::site::mdbook() else {
        let _ = writeln!(std::io::stderr(), "skipped: the site: {}", xtask::site::HOW_TO_GET_IT);
        return;
    };
    let root = xtask::root();
    let folder = std::env::temp_dir().join(format!("fencepost-site-{}", std::process::id()));
    xtask::site::write(&root, &xtask::site::assemble(&root), &folder).expect("the pages can be written");
    let dead = xtask::site::build(&mdbook, &folder);
    let built = folder.join("book/kinds/deadlock.html").exists();
    let _ = std::fs::remove_dir_all(&folder);
    assert_eq!(dead, Ok(Vec::new()));
    assert!(built, "the page of a kind is not there");
}
