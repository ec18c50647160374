//! `cargo xtask docs`: the documentation as a site, built from the pages that lie here by `mdbook`.

mod assemble;
pub(crate) mod links;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

pub(crate) use assemble::resolve;
pub use assemble::{DocsSite, SiteFile, assemble};

use crate::steps::answers;
use crate::target;

/// What is said where there is no mdbook.
pub const HOW_TO_GET_IT: &str =
    "mdbook is not installed (cargo install mdbook --locked; FENCEPOST_MDBOOK names another)";

/// The program that builds the site, if there is one.
pub fn mdbook() -> Option<String> {
    let program = std::env::var("FENCEPOST_MDBOOK").unwrap_or_else(|_| "mdbook".to_owned());
    answers(&program, &["--version"]).then_some(program)
}

/// Builds the site in `target/docs`.
pub fn run(root: &Path) -> ExitCode {
    let site = assemble(root);
    for problem in &site.problems {
        eprintln!("{problem}");
    }
    let folder = target(root).join("docs");
    if let Err(error) = write(root, &site, &folder) {
        eprintln!("{}: {error}", folder.display());
        return ExitCode::FAILURE;
    }
    println!("{} pages in {}", site.files.len(), folder.join("src").display());
    let Some(mdbook) = mdbook() else {
        eprintln!("{HOW_TO_GET_IT}");
        return ExitCode::FAILURE;
    };
    match build(&mdbook, &folder) {
        Ok(dead) => {
            for link in &dead {
                eprintln!("{link}");
            }
            println!("the site is {}", folder.join("book/index.html").display());
            if site.problems.is_empty() && dead.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Writes what mdbook reads; what lay in the folder is replaced.
pub fn write(root: &Path, site: &DocsSite, folder: &Path) -> io::Result<()> {
    let source = folder.join("src");
    if source.exists() {
        fs::remove_dir_all(&source)?;
    }
    for file in &site.files {
        let path = source.join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(&source))?;
        fs::write(path, &file.content)?;
    }
    for name in ["book.toml", "book.css"] {
        fs::copy(root.join("docs").join(name), folder.join(name))?;
    }
    Ok(())
}

/// Builds what was written, and gives the links of the built pages that lead nowhere.
pub fn build(mdbook: &str, folder: &Path) -> Result<Vec<String>, String> {
    let out = Command::new(mdbook).arg("build").arg(folder).output();
    let out = out.map_err(|error| format!("{mdbook}: {error}"))?;
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    if !out.status.success() || said.lines().any(|line| line.trim_start().starts_with("WARN")) {
        return Err(said);
    }
    let mut dead = Vec::new();
    dead_in(&folder.join("book"), &mut dead);
    Ok(dead)
}

/// `PAGE: TARGET` of each link and picture of the pages below a folder that leads to no file. Styles, scripts and fonts
/// are mdbook's matter.
fn dead_in(folder: &Path, dead: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            dead_in(&path, dead);
        } else if path.extension().is_some_and(|end| end == "html") {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let leads = |target: &str| -> Option<PathBuf> {
                let target = target.split(['#', '?']).next()?;
                let outside = target.is_empty() || target.contains(':') || target.starts_with('/');
                (!outside).then(|| path.parent().unwrap_or(folder).join(target))
            };
            for target in targets(&text).filter(|target| leads(target).is_some_and(|file| !file.exists())) {
                dead.push(format!("{}: {target} leads nowhere", path.display()));
            }
        }
    }
    dead.sort();
    dead.dedup();
}

/// What the links and pictures of a page name.
fn targets(page: &str) -> impl Iterator<Item = &str> {
    page.split('<').filter_map(|tag| {
        let attribute = match tag.split_whitespace().next()? {
            "a" => "href=\"",
            "img" => "src=\"",
            _ => return None,
        };
        tag.split('>').next()?.split_once(attribute)?.1.split('"').next()
    })
}

#[cfg(test)]
mod tests {
    use super::targets;

    #[test]
    fn links_and_pictures_of_a_page_are_seen_and_the_theme_is_not() {
        let page = r#"<link rel="stylesheet" href="fonts/fonts.css"><script src="book.js"></script>
            <p><a class="x" href="races.html#how">races</a> <img alt="" src="trace.svg"> <abbr href="no">"#;
        assert_eq!(targets(page).collect::<Vec<_>>(), ["races.html#how", "trace.svg"]);
    }
}
