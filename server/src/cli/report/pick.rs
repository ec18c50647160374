//! Which sections of a file are reported.

use engine::instances::Elaboration;
use lower::kernel_names;
use rustc_hash::FxHashMap;
use ttgir::{Document, Level, Tree};

use super::make::{Content, instances};
use super::sheet::SectionName;
use crate::place::Places;

/// A section with kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its index in the document.
    pub at: usize,
    /// Its number and pass.
    pub name: SectionName,
    /// All that its separator says of the pass.
    pub said: String,
    /// The line it starts on, from 1.
    pub line: u32,
    /// Its kernels.
    pub kernels: Vec<String>,
    /// Of Python: which instance of its kernel it is.
    pub instance: Option<usize>,
}

/// Which sections are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picked {
    /// These, by their index in the list.
    These(Vec<usize>),
    /// Nobody said, and there are several.
    Unsaid,
}

/// The sections of a file that have kernels, or where one is named, that kernel. Trees are thrown
/// away: a dump has hundreds of sections.
pub fn sections(content: Content<'_>, places: &Places<'_>, kernel: Option<&str>) -> Vec<Listed> {
    match content {
        Content::Ir(document) => of_dump(document, places, kernel),
        Content::Python(elaboration) => of_python(elaboration, places, kernel),
    }
}

/// One an instance of a kernel.
fn of_python(elaboration: &Elaboration, places: &Places<'_>, wanted: Option<&str>) -> Vec<Listed> {
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
        listed.push(Listed {
            at,
            said: pass.clone(),
            name: SectionName { number: at + 1, count, pass },
            line: places.line(elaboration.module.place(kernel.entry.name_range).0.start),
            kernels: vec![kernel.entry.name.clone()],
            instance: Some(number),
        });
    }
    listed
}

fn of_dump(document: &Document, places: &Places<'_>, kernel: Option<&str>) -> Vec<Listed> {
    let mut known: FxHashMap<&str, Vec<String>> = FxHashMap::default();
    let mut listed = Vec::new();
    let count = document.sections().len();
    for (at, section) in document.sections().iter().enumerate() {
        if matches!(section.level(), Level::Llvm | Level::Other) && count > 1 {
            continue;
        }
        let names = known.entry(section.text()).or_insert_with(|| {
            let kept = count == 1 || section.is_read();
            let names = if kept { kernel_names(section.tree()) } else { kernel_names(&Tree::parse(section.text())) };
            names.into_iter().map(|(name, _)| name).collect()
        });
        let names: Vec<String> = names.iter().filter(|name| kernel.is_none_or(|it| it == *name)).cloned().collect();
        let name = SectionName::of(document, at).unwrap_or(SectionName { number: 1, count: 1, pass: String::new() });
        if !names.is_empty() {
            let said = section.header().map_or_else(String::new, |header| header.pass.clone());
            listed.push(Listed { at, name, said, line: places.line(section.offset()), kernels: names, instance: None });
        }
    }
    listed
}

/// The sections that `--section` names, or the only one.
pub fn pick(wanted: Option<&str>, listed: &[Listed]) -> Result<Picked, String> {
    match wanted {
        // Of each kernel in Python its first instance.
        None if !listed.is_empty() && listed.iter().all(|it| it.instance.is_some()) => {
            let first = listed.iter().enumerate().filter(|(_, it)| it.instance == Some(0));
            Ok(Picked::These(first.map(|(at, _)| at).collect()))
        }
        None if listed.len() > 1 => Ok(Picked::Unsaid),
        None | Some("all") => Ok(Picked::These((0..listed.len()).collect())),
        Some(wanted) => find(wanted, listed).map(Picked::These),
    }
}

/// The two sections of `X..Y`.
pub fn pick_two(wanted: &str, listed: &[Listed]) -> Result<(usize, usize), String> {
    let Some((from, to)) = wanted.split_once("..") else {
        return Err(format!("--diff compares two sections, --section X..Y; `{wanted}` names one"));
    };
    Ok((one(from, listed)?, one(to, listed)?))
}

fn one(wanted: &str, listed: &[Listed]) -> Result<usize, String> {
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
fn find(wanted: &str, listed: &[Listed]) -> Result<Vec<usize>, String> {
    let all = |test: &dyn Fn(&Listed) -> bool| -> Vec<usize> {
        listed.iter().enumerate().filter(|(_, it)| test(it)).map(|(at, _)| at).collect()
    };
    if let Ok(number) = wanted.parse::<usize>() {
        let found = all(&|it| it.name.number == number);
        return if found.is_empty() { Err(format!("section {number} has no kernel")) } else { Ok(found) };
    }
    let whole = |it: &Listed| {
        let pass = it.name.pass.as_str();
        let bare = pass.rsplit_once("after ").or_else(|| pass.rsplit_once("before ")).map_or(pass, |(_, bare)| bare);
        pass == wanted || bare == wanted
    };
    let lower = wanted.to_lowercase();
    let part = |it: &Listed| [&it.name.pass, &it.said].iter().any(|text| text.to_lowercase().contains(&lower));
    let found = [all(&whole), all(&part)].into_iter().find(|found| !found.is_empty());
    found.ok_or_else(|| format!("no section with kernels has `{wanted}` in the name of its pass"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed() -> Vec<Listed> {
        let passes = ["before Warps", "after doCodePartition", "after doCodePartitionPost", "after Warps"];
        let name = |number, pass: &str| SectionName { number, count: 9, pass: pass.to_owned() };
        let sections = passes.iter().enumerate();
        sections
            .map(|(at, pass)| Listed {
                at,
                name: name(at + 2, pass),
                said: "w{n=1}".to_owned(),
                line: 1,
                kernels: Vec::new(),
                instance: None,
            })
            .collect()
    }

    #[test]
    fn sections_go_by_number_by_pass_and_by_a_part_of_it() {
        let these = |wanted| pick(Some(wanted), &listed());
        assert_eq!(these("3"), Ok(Picked::These(vec![1])));
        assert_eq!(these("doCodePartition"), Ok(Picked::These(vec![1])));
        assert_eq!(these("codepart"), Ok(Picked::These(vec![1, 2])));
        assert_eq!(these("Warps"), Ok(Picked::These(vec![0, 3])));
        assert_eq!(these("w{N"), these("all"));
        assert_eq!(these("all"), Ok(Picked::These(vec![0, 1, 2, 3])));
        assert_eq!(pick(None, &listed()), Ok(Picked::Unsaid));
        assert_eq!(pick(None, &listed()[..1]), Ok(Picked::These(vec![0])));
        assert!(these("1").is_err() && these("banana").is_err());
    }

    #[test]
    fn a_comparison_takes_two() {
        assert_eq!(pick_two("2..after Warps", &listed()), Ok((0, 3)));
        assert!(pick_two("2", &listed()).is_err());
        assert_eq!(
            pick_two("2..codepart", &listed()),
            Err("`codepart` names 2 sections: 3, 4; choose one by its number".to_owned())
        );
    }
}
