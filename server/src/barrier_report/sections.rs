//! The sections of a file that have kernels, and which of them a user means.

use engine::instances::Elaboration;
use lower::kernel_names;
use rustc_hash::FxHashMap;
use ttgir::{Document, IrLevel, Tree, When};

use super::content::{Content, instances};
use render::SourceText;
use render::report::{SectionEntry, SectionName};

/// Which sections of a file are reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// These, by their index in the list.
    Sections(Vec<usize>),
    /// None is named, and there are several.
    Ambiguous,
}

/// The sections of a file that have kernels, or where one is named, that kernel. Trees are thrown
/// away: a dump has hundreds of sections.
pub(crate) fn sections(content: Content<'_>, places: &SourceText<'_>, kernel: Option<&str>) -> Vec<SectionEntry> {
    match content {
        Content::Ir(document) => of_dump(document, places, kernel),
        Content::Python(elaboration) => of_python(elaboration, places, kernel),
    }
}

/// One an instance of a kernel.
fn of_python(elaboration: &Elaboration, places: &SourceText<'_>, wanted: Option<&str>) -> Vec<SectionEntry> {
    let all = instances(elaboration);
    let count = all.len();
    let mut listed = Vec::new();
    for (at, (kernel, number)) in all.into_iter().enumerate() {
        let Some(kernel) = elaboration.kernels.get(kernel) else { continue };
        let Some(elaborated) = kernel.instances.get(number) else { continue };
        if wanted.is_some_and(|name| name != kernel.entry.name) {
            continue;
        }
        let pass = elaborated.instance.label.clone();
        listed.push(SectionEntry {
            index: at,
            header: pass.clone(),
            name: SectionName { number: at + 1, count, pass },
            line: places.line(elaboration.module.place(kernel.entry.name_range).0.start),
            kernels: vec![kernel.entry.name.clone()],
            instance: Some(number),
        });
    }
    listed
}

fn of_dump(document: &Document, places: &SourceText<'_>, kernel: Option<&str>) -> Vec<SectionEntry> {
    let mut known: FxHashMap<&str, Vec<String>> = FxHashMap::default();
    let mut listed = Vec::new();
    let count = document.sections().len();
    for (at, section) in document.sections().iter().enumerate() {
        if matches!(section.level(), IrLevel::Llvm | IrLevel::Other) && count > 1 {
            continue;
        }
        let names = known.entry(section.text()).or_insert_with(|| {
            let kept = count == 1 || section.is_read();
            let names = if kept { kernel_names(section.tree()) } else { kernel_names(&Tree::parse(section.text())) };
            names.into_iter().map(|(name, _)| name).collect()
        });
        let names: Vec<String> = names.iter().filter(|name| kernel.is_none_or(|it| it == *name)).cloned().collect();
        let name = name(document, at).unwrap_or(SectionName { number: 1, count: 1, pass: String::new() });
        if !names.is_empty() {
            let said = section.header().map_or_else(String::new, |header| header.pass.clone());
            listed.push(SectionEntry {
                index: at,
                name,
                header: said,
                line: places.line(section.offset()),
                kernels: names,
                instance: None,
            });
        }
    }
    listed
}

/// The name of a section by its index; `None` in a file of one module.
pub(crate) fn name(document: &Document, at: usize) -> Option<SectionName> {
    let sections = document.sections();
    let section = sections.get(at)?;
    if sections.len() == 1 && section.header().is_none() {
        return None;
    }
    let pass = section.header().map_or_else(String::new, |header| {
        let when = match header.when {
            When::Before => "before",
            When::After => "after",
            When::Failed => "after failed",
        };
        // `CanonicalizerPass: canonicalize{…}` is long, and its first word says it.
        format!("{when} {}", header.pass.split([':', '{']).next().unwrap_or_default().trim())
    });
    Some(SectionName { number: at + 1, count: sections.len(), pass })
}

/// The sections that `--section` names, or the only one.
pub(crate) fn select(wanted: Option<&str>, listed: &[SectionEntry]) -> Result<Selection, String> {
    match wanted {
        // Of each kernel in Python its first instance.
        None if !listed.is_empty() && listed.iter().all(|it| it.instance.is_some()) => {
            let first = listed.iter().enumerate().filter(|(_, it)| it.instance == Some(0));
            Ok(Selection::Sections(first.map(|(at, _)| at).collect()))
        }
        None if listed.len() > 1 => Ok(Selection::Ambiguous),
        None | Some("all") => Ok(Selection::Sections((0..listed.len()).collect())),
        Some(wanted) => find(wanted, listed).map(Selection::Sections),
    }
}

/// The two sections of `X..Y`.
pub(crate) fn select_pair(wanted: &str, listed: &[SectionEntry]) -> Result<(usize, usize), String> {
    let Some((from, to)) = wanted.split_once("..") else {
        return Err(format!("--diff compares two sections, --section X..Y; `{wanted}` names one"));
    };
    Ok((one(from, listed)?, one(to, listed)?))
}

fn one(wanted: &str, listed: &[SectionEntry]) -> Result<usize, String> {
    match find(wanted, listed)?.as_slice() {
        [one] => Ok(*one),
        many => {
            let numbers: Vec<String> =
                many.iter().filter_map(|&at| listed.get(at)).map(|it| it.name.number.to_string()).collect();
            Err(format!("`{wanted}` names {} sections: {}; choose one by its number", many.len(), numbers.join(", ")))
        }
    }
}

/// Sections of this number, or else with a pass of this name, or else with this in the pass's name.
fn find(wanted: &str, listed: &[SectionEntry]) -> Result<Vec<usize>, String> {
    let all = |test: &dyn Fn(&SectionEntry) -> bool| -> Vec<usize> {
        listed.iter().enumerate().filter(|(_, it)| test(it)).map(|(at, _)| at).collect()
    };
    if let Ok(number) = wanted.parse::<usize>() {
        let found = all(&|it| it.name.number == number);
        return if found.is_empty() { Err(format!("section {number} has no kernel")) } else { Ok(found) };
    }
    let whole = |it: &SectionEntry| {
        let pass = it.name.pass.as_str();
        let bare = pass.rsplit_once("after ").or_else(|| pass.rsplit_once("before ")).map_or(pass, |(_, bare)| bare);
        pass == wanted || bare == wanted
    };
    let lower = wanted.to_lowercase();
    let part = |it: &SectionEntry| [&it.name.pass, &it.header].iter().any(|text| text.to_lowercase().contains(&lower));
    let found = [all(&whole), all(&part)].into_iter().find(|found| !found.is_empty());
    found.ok_or_else(|| format!("no section with kernels has `{wanted}` in the name of its pass"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed() -> Vec<SectionEntry> {
        let passes = ["before Warps", "after doCodePartition", "after doCodePartitionPost", "after Warps"];
        let name = |number, pass: &str| SectionName { number, count: 9, pass: pass.to_owned() };
        let sections = passes.iter().enumerate();
        sections
            .map(|(at, pass)| SectionEntry {
                index: at,
                name: name(at + 2, pass),
                header: "w{n=1}".to_owned(),
                line: 1,
                kernels: Vec::new(),
                instance: None,
            })
            .collect()
    }

    #[test]
    fn sections_go_by_number_by_pass_and_by_a_part_of_it() {
        let these = |wanted| select(Some(wanted), &listed());
        assert_eq!(these("3"), Ok(Selection::Sections(vec![1])));
        assert_eq!(these("doCodePartition"), Ok(Selection::Sections(vec![1])));
        assert_eq!(these("codepart"), Ok(Selection::Sections(vec![1, 2])));
        assert_eq!(these("Warps"), Ok(Selection::Sections(vec![0, 3])));
        assert_eq!(these("w{N"), these("all"));
        assert_eq!(these("all"), Ok(Selection::Sections(vec![0, 1, 2, 3])));
        assert_eq!(select(None, &listed()), Ok(Selection::Ambiguous));
        assert_eq!(select(None, &listed()[..1]), Ok(Selection::Sections(vec![0])));
        assert!(these("1").is_err() && these("banana").is_err());
    }

    #[test]
    fn a_comparison_takes_two() {
        assert_eq!(select_pair("2..after Warps", &listed()), Ok((0, 3)));
        assert!(select_pair("2", &listed()).is_err());
        assert_eq!(
            select_pair("2..codepart", &listed()),
            Err("`codepart` names 2 sections: 3, 4; choose one by its number".to_owned())
        );
    }
}
