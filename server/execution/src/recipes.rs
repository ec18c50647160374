//! Which recipes a file is run by: what the command line gives, over comments in the file, over settings, over what was
//! run before, over what is found in the file, over what is chosen.

use std::path::Path;

use engine::instances::Elaboration;
use findings::{GRID, KernelReport, Severity};
use runtime::launch::directive::RecipeDirectives;
use runtime::launch::recipe::{self, RecipeError};
use runtime::launch::store::{self, RecipeStore};
use runtime::launch::{ArgumentValue, LaunchArgument, LaunchOrigin, LaunchSpec};

use super::recipe_check::wrong_names;
use render::SourceText;

/// What the user gives by hand.
#[derive(Clone, Debug, Default)]
pub struct RecipeOverrides {
    /// Only this kernel.
    pub kernel: Option<String>,
    /// The number of programs in each dimension.
    pub grid: Option<[u32; 3]>,
    /// Arguments, over those of the recipe.
    pub arguments: Vec<LaunchArgument>,
    /// Recipes of a file.
    pub launches: Vec<LaunchSpec>,
}

impl RecipeOverrides {
    fn over(&self, mut launch: LaunchSpec) -> LaunchSpec {
        if let Some(kernel) = &self.kernel {
            launch.kernel.get_or_insert_with(|| kernel.clone());
        }
        if let Some(grid) = self.grid {
            launch.grid = grid;
        }
        for argument in &self.arguments {
            match launch.arguments.iter_mut().find(|known| known.name == argument.name) {
                Some(known) => known.given = argument.given.clone(),
                None => launch.arguments.push(argument.clone()),
            }
        }
        launch
    }

    fn takes(&self, launch: &LaunchSpec) -> bool {
        self.kernel.is_none() || launch.kernel.is_none() || self.kernel == launch.kernel
    }
}

/// The recipes of a file, or what is wrong with its comments.
pub struct RecipeSources<'a> {
    /// The file's path.
    pub path: &'a Path,
    /// Its text.
    pub text: &'a str,
    /// Whether it is Python.
    pub python: bool,
    /// Its kernels, as they were judged.
    pub kernels: &'a [KernelReport],
    /// The kernels of a Python file as they were elaborated.
    pub elaboration: Option<&'a Elaboration>,
    /// What the settings of the project say.
    pub configured: &'a [LaunchSpec],
    /// What is kept in the workspace.
    pub store: Option<&'a RecipeStore>,
    /// What else is found in the file: launches of its host code, tests, its `__main__`.
    pub found: &'a [LaunchSpec],
}

impl RecipeSources<'_> {
    /// The recipes by which the file is run, one after the other.
    ///
    /// # Errors
    ///
    /// What is wrong with a comment of the file, where that is what would be used.
    pub fn choose(&self, by: &RecipeOverrides) -> Result<Vec<LaunchSpec>, Vec<RecipeError>> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let wanted = |launches: &[LaunchSpec]| -> Vec<LaunchSpec> {
            launches.iter().filter(|launch| by.takes(launch)).map(|launch| by.over(launch.clone())).collect()
        };
        if !by.launches.is_empty() {
            return Ok(wanted(&by.launches));
        }
        let RecipeDirectives { launches, mut errors } = RecipeDirectives::read(self.text, self.python, folder);
        errors.extend(wrong_names(self.text, &launches, self.kernels, self.elaboration));
        if !errors.is_empty() {
            return Err(errors);
        }
        let said = wanted(&launches);
        if !said.is_empty() {
            return Ok(said);
        }
        let configured = wanted(self.configured);
        // The settings are of many files: what they say of kernels of others is nothing here.
        let here = |launch: &LaunchSpec| self.kernels.iter().any(|kernel| launch.kernel.as_ref() == Some(&kernel.name));
        if configured.iter().any(here) {
            return Ok(configured.into_iter().filter(here).collect());
        }
        let stored = self.store.map(|store| store.of(self.path, self.python)).unwrap_or_default();
        let stored = wanted(&stored);
        if !stored.is_empty() {
            return Ok(stored);
        }
        let found = wanted(self.found);
        if !found.is_empty() {
            return Ok(found);
        }
        Ok(self.chosen(by))
    }

    /// The numbers and programs that a finding was made with, and else one program with whatever the backend chooses for
    /// its arguments, of each kernel.
    fn chosen(&self, by: &RecipeOverrides) -> Vec<LaunchSpec> {
        let mut names: Vec<Option<String>> = self.kernels.iter().map(|kernel| Some(kernel.name.clone())).collect();
        names.dedup();
        names.retain(|name| by.kernel.is_none() || *name == by.kernel);
        if names.len() <= 1 {
            names = vec![by.kernel.clone().or_else(|| names.pop().flatten())];
        }
        let given = by.grid.is_some() || !by.arguments.is_empty();
        let origin = if given { LaunchOrigin::CommandLine } else { LaunchOrigin::Chosen };
        let launch = |kernel: Option<String>| {
            let (grid, arguments) = self.inputs_of_finding(kernel.as_deref());
            LaunchSpec { kernel, grid, arguments, entry: None, origin: origin.clone() }
        };
        names.into_iter().map(|kernel| by.over(launch(kernel))).collect()
    }
}

impl RecipeSources<'_> {
    /// The numbers of the first finding that depends on any, as a grid and arguments: with other sizes, or fewer
    /// programs, a run may not meet it.
    fn inputs_of_finding(&self, kernel: Option<&str>) -> ([u32; 3], Vec<LaunchArgument>) {
        let mut grid = [1; 3];
        let of = self.kernels.iter().find(|report| kernel.is_none_or(|name| report.name == name));
        let Some(report) = of else { return (grid, Vec::new()) };
        let mut findings = report.findings.iter().filter(|finding| finding.severity <= Severity::Warning);
        let Some(finding) = findings.find(|finding| !finding.inputs.is_empty()) else { return (grid, Vec::new()) };
        let mut arguments = Vec::new();
        for (name, value) in finding.inputs.iter().map(|(name, value)| (name.trim_start_matches('%'), *value)) {
            if let Some((_, count)) = GRID.iter().zip(&mut grid).find(|(axis, _)| **axis == name) {
                *count = u32::try_from(value).unwrap_or(1).max(1);
            } else if self.is_parameter(&report.name, name) {
                arguments.push(LaunchArgument { name: name.to_owned(), given: ArgumentValue::Int(value) });
            }
        }
        (grid, arguments)
    }

    /// Whether a kernel has an integer parameter of this name: what else a finding depends on, such as the number of
    /// the program or a word from memory, no launch gives.
    fn is_parameter(&self, kernel: &str, name: &str) -> bool {
        let (head, param) = if self.python {
            (format!("def {kernel}("), name.to_owned())
        } else {
            (format!("@{kernel}("), format!("%{name}: i"))
        };
        let Some((_, rest)) = self.text.split_once(&head) else { return false };
        let list = rest.split_once(") {").or_else(|| rest.split_once("):")).map_or(rest, |(list, _)| list);
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let mut found = list.match_indices(&param);
        found.any(|(at, _)| {
            let before = list.get(..at).and_then(|text| text.chars().next_back());
            let after = list.get(at + param.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_name) && (!self.python || !after.is_some_and(is_name))
        })
    }
}

/// Who says how a kernel is launched, in words.
pub fn origin(launch: &LaunchSpec, places: &SourceText<'_>) -> String {
    match &launch.origin {
        LaunchOrigin::CommandLine => "given".to_owned(),
        LaunchOrigin::Directive(range) => format!("from line {}", places.line(range.start)),
        LaunchOrigin::Stored => format!("from {}", store::FILE),
        LaunchOrigin::Settings => format!("from {}", settings::FILE),
        LaunchOrigin::LaunchSite(range) => format!("from the launch at line {}", places.line(range.start)),
        LaunchOrigin::Pytest => "a test of the file".to_owned(),
        LaunchOrigin::Main => "the file's `__main__`".to_owned(),
        LaunchOrigin::Chosen => "chosen: nothing says how this kernel is launched".to_owned(),
    }
}

/// A recipe on the command line.
///
/// # Errors
///
/// What is wrong with it.
pub fn argument(text: &str) -> Result<LaunchArgument, String> {
    recipe::argument(text, Path::new(""))
}
