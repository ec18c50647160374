//! What is wrong with the recipes that stand in a file's comments: what cannot be read, and names that the file's kernels do
//! not have.
//!
//! Deviation: a name that is near to none may be an option of the compiler's that is not known here, and is left alone.

use base::TextRange;
use engine::instances::Elaboration;
use findings::{KernelReport, Severity, TextProblem};
use runtime::launch::directive::RecipeDirectives;
use runtime::launch::recipe::RecipeError;
use runtime::launch::{LaunchOrigin, LaunchSpec};
use settings::nearest;

/// What a launch gives beside the parameters of a kernel.
pub const COMPILED_WITH: [&str; 4] = ["num_warps", "num_ctas", "num_stages", "maxnreg"];

/// The code of a comment that is written wrong.
const WRONG: &str = "directive";

/// What is wrong with a file's recipes, with no look at the files that they name.
pub fn problems(text: &str, kernels: &[KernelReport], elaboration: Option<&Elaboration>) -> Vec<TextProblem> {
    let python = elaboration.is_some();
    let RecipeDirectives { launches, mut errors } = RecipeDirectives::read(text, python, None);
    errors.extend(wrong_names(text, &launches, kernels, elaboration));
    let problem = |RecipeError { range, message }| TextProblem {
        code: WRONG,
        severity: Severity::Error,
        message,
        range,
        source: None,
        fix: None,
    };
    errors.into_iter().map(problem).collect()
}

/// Names in recipes of comments that neither a kernel nor one of its parameters has.
pub(crate) fn wrong_names(
    text: &str,
    launches: &[LaunchSpec],
    kernels: &[KernelReport],
    elaboration: Option<&Elaboration>,
) -> Vec<RecipeError> {
    let mut errors = Vec::new();
    // Who is to launch what by its own code may launch kernels of other files.
    for launch in launches.iter().filter(|launch| launch.entry.is_none()) {
        let LaunchOrigin::Directive(comment) = launch.origin else { continue };
        let names = || kernels.iter().map(|kernel| kernel.name.as_str());
        if let Some(name) = launch.kernel.as_deref().filter(|name| !names().any(|other| other == *name))
            && !kernels.is_empty()
        {
            let mut listed: Vec<String> = names().map(|name| format!("`{name}`")).collect();
            listed.dedup();
            let there = match nearest(name, names()) {
                Some(near) => format!("; did you mean `{near}`?"),
                None => format!("; there {} {}", if listed.len() == 1 { "is" } else { "are" }, listed.join(", ")),
            };
            errors.push(RecipeError {
                range: word(text, comment, name),
                message: format!("there is no kernel `{name}`{there}"),
            });
            continue;
        }
        let Some(parameters) = elaboration.and_then(|of| parameters(of, launch)) else { continue };
        let known = || parameters.iter().copied().chain(COMPILED_WITH);
        for argument in &launch.arguments {
            let name = argument.name.as_str();
            if known().any(|other| other == name) {
                continue;
            }
            let Some(near) = nearest(name, known().chain(["grid"])) else { continue };
            errors.push(RecipeError {
                range: word(text, comment, name),
                message: format!("the kernel has no parameter `{name}`; did you mean `{near}`?"),
            });
        }
    }
    errors
}

/// The parameters of the kernel that a recipe is for.
fn parameters<'e>(elaboration: &'e Elaboration, launch: &LaunchSpec) -> Option<Vec<&'e str>> {
    let kernel = match (&launch.kernel, elaboration.kernels.as_slice()) {
        (Some(name), all) => all.iter().find(|kernel| kernel.entry.name == *name)?,
        (None, [only]) => only,
        (None, _) => return None,
    };
    Some(kernel.entry.params.iter().map(|param| param.name.as_str()).collect())
}

/// Where a word of a recipe stands; the whole comment where it is written in another way.
fn word(text: &str, comment: TextRange, name: &str) -> TextRange {
    let inside = comment.of(text);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let found = inside.match_indices(name).find(|(at, _)| {
        let before = inside.get(..*at).and_then(|before| before.chars().next_back());
        let after = inside.get(at + name.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    });
    match found {
        Some((at, _)) => TextRange::new(comment.start + at as u32, comment.start + (at + name.len()) as u32),
        None => comment,
    }
}
