//! The kernels of a file.

use ruff_text_size::Ranged;

use super::survey::{Func, Kind, Survey};
use super::usage::{ParamUse, uses};
use base::TextRange;
use python::interp::Interp;
use python::specialization::{Given, Language, LaunchFacts};
use python::syntax::{Module, Sources};

/// A kernel, by its text alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; that of a class before it, whose static method it is.
    pub name: String,
    /// The language that it is written in.
    pub language: Language,
    /// Where its statement starts in the file's source, decorators included: what [`super::Spec::def`] names it by.
    pub def: u32,
    /// Its statement in the file's source.
    pub range: TextRange,
    /// Its name in the file's source.
    pub name_range: TextRange,
    /// The functions around it, outermost first.
    pub inside: Vec<String>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Whether the file launches something of its name.
    pub launched: bool,
    /// What its decorator says that its parameters are given, by their names.
    pub signature: Vec<(String, Given)>,
    /// What its decorator says of all its launches, where it names a launcher.
    pub generated: Option<LaunchFacts>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Where that is.
    pub range: TextRange,
    /// Whether it is annotated as a constexpr.
    pub constexpr: bool,
    /// The text of its annotation.
    pub annotation: Option<String>,
    /// The text of its default.
    pub default: Option<String>,
    /// What the kernel does with it.
    pub used: ParamUse,
    /// Attributes that the kernel asks of it.
    pub members: Vec<String>,
    /// Whether Triton makes a constexpr of it where it is given 1.
    pub specialised: bool,
}

/// The functions of a file that are launched, or could be: no other function that runs in a kernel
/// mentions them, they give nothing back, and each parameter can be the argument of a launch.
///
/// `sources` are asked for files that hand on Triton's names.
pub fn entries(module: &Module, sources: &dyn Sources) -> Vec<Entry> {
    entries_of(module, &Survey::of(module, sources)).0
}

/// The same, and the functions that nothing calls or launches and of which a parameter is used as what no launch gives:
/// they are helpers of other files, or kernels that are written for more than is known here.
pub(super) fn entries_of(module: &Module, survey: &Survey<'_>) -> (Vec<Entry>, Vec<Entry>) {
    let free = survey.functions.iter().filter(|func| !func.method || func.is_static);
    let all = free.filter_map(|func| {
        let language = func.language()?;
        let name = func.def.name.as_str();
        let launched = survey.launched.contains(name);
        if !launched && (func.returns || is_helper(survey, func)) {
            return None;
        }
        let inside = func.inside.iter().map(|&at| survey.functions[at].def.name.to_string()).collect();
        let params = params(module, survey, func);
        let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
        let generated = super::generated::launch(module, survey, func, &names);
        let signature = super::generated::signature(func, &names);
        Some(Entry {
            name: func.owner.map_or_else(|| name.to_owned(), |owner| format!("{owner}.{name}")),
            language,
            def: func.start(),
            range: Interp::range(func.def),
            name_range: Interp::range(&func.def.name),
            inside,
            params,
            launched,
            signature,
            generated,
        })
    });
    all.partition(|entry| entry.launched || entry.unlaunchable().is_none())
}

/// Whether other functions of kernels call it.
fn is_helper(survey: &Survey<'_>, func: &Func<'_>) -> bool {
    let others = survey.functions.iter().filter(|other| other.start() != func.start());
    others.filter(|other| other.device() || other.kind == Kind::Constexpr).any(|other| other.may_call(func))
}

impl Entry {
    /// The first parameter that no launch can give.
    pub(super) fn unlaunchable(&self) -> Option<&Param> {
        self.params.iter().find(|param| !param.constexpr && matches!(param.used, ParamUse::Memory | ParamUse::Object))
    }

    /// What it is called where it stands, without a class.
    pub fn word(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }

    /// What other files import to get at it: its class, if it is in one.
    pub(super) fn imported(&self) -> &str {
        self.name.split('.').next().unwrap_or(&self.name)
    }
}

fn params(module: &Module, survey: &Survey<'_>, func: &Func<'_>) -> Vec<Param> {
    let used = uses(survey, func);
    let all = func.def.parameters.iter_non_variadic_params().zip(used);
    let text = |range: TextRange| module.slice(range);
    let lists = func.def.decorator_list.iter().filter_map(|decorator| decorator.expression.as_call_expr());
    let lists: Vec<&str> = lists
        .filter_map(|call| call.arguments.find_keyword("do_not_specialize"))
        .map(|word| text(Interp::range(&word.value)))
        .collect();
    let params = all.map(|(param, (used, members))| {
        let annotation = param.annotation().map(|expr| text(Interp::range(&expr.range())));
        Param {
            name: param.name().to_string(),
            range: Interp::range(param.name()),
            constexpr: annotation.is_some_and(|text| text.contains("constexpr")),
            annotation: annotation.map(str::to_owned),
            default: param.default().map(|expr| text(Interp::range(&expr.range())).to_owned()),
            used,
            members,
            specialised: !lists.iter().any(|list| quotes(list, param.name())),
        }
    });
    params.collect()
}

/// Whether a list of names in quotes has one.
fn quotes(list: &str, name: &str) -> bool {
    list.split(['\'', '"']).any(|part| part == name)
}
