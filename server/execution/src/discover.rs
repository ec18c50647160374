//! Recipes that a Python file implies: launches that its host code makes, its tests, its `__main__`.

use std::path::Path;

use engine::instances::{Elaboration, Handed, LaunchSite};
use runtime::launch::{ArgumentValue, ArraySpec, LaunchArgument, LaunchOrigin, LaunchSpec, PythonEntry, default_fill};
use tensors::array::ElemType;

/// What a file implies, the surest first: of each kernel its first launch that is known whole, or else what runs
/// the file's own code.
pub fn launches(path: &Path, elaboration: Option<&Elaboration>, text: &str, python: bool) -> Vec<LaunchSpec> {
    if !python {
        return Vec::new();
    }
    let mut found = Vec::new();
    for kernel in elaboration.iter().flat_map(|elaboration| &elaboration.kernels) {
        let whole = kernel.sites.iter().find(|site| site.unknown.is_empty() && site.grid.is_some());
        let Some(site) = whole.filter(|_| kernel.entry.inside.is_empty()) else { continue };
        let range = site.range.and_then(|range| elaboration.map(|it| it.module.place(range).0));
        found.extend(launch(&kernel.entry.name, site, range.unwrap_or(kernel.entry.name_range)));
    }
    if found.is_empty() {
        found.extend(own_code(path, text));
    }
    found
}

fn launch(kernel: &str, site: &LaunchSite, range: base::TextRange) -> Option<LaunchSpec> {
    let arguments: Option<Vec<LaunchArgument>> = site
        .arguments
        .iter()
        .map(|(name, handed)| Some(LaunchArgument { name: name.clone(), given: given(handed)? }))
        .collect();
    let (kernel, grid) = (Some(kernel.to_owned()), site.grid?);
    Some(LaunchSpec { kernel, grid, arguments: arguments?, entry: None, origin: LaunchOrigin::LaunchSite(range) })
}

fn given(handed: &Handed) -> Option<ArgumentValue> {
    Some(match handed {
        Handed::Int(value) => ArgumentValue::Int(*value),
        Handed::Float(value) => ArgumentValue::Float(*value),
        Handed::Python(text) => ArgumentValue::Python(text.clone()),
        Handed::Tensor { dtype, shape, strides } => {
            let unsigned = ElemType::is_unsigned_name(dtype);
            let dtype = ElemType::named(dtype).or_else(|| (dtype == "float4_e2m1fn_x2").then_some(ElemType::I8))?;
            ArgumentValue::Array(ArraySpec {
                dtype,
                unsigned,
                shape: shape.clone(),
                strides: strides.clone(),
                fill: default_fill(dtype, unsigned),
            })
        }
    })
}

/// The file's first test, or its `__main__`.
fn own_code(path: &Path, text: &str) -> Option<LaunchSpec> {
    let starts = |line: &&str| line.starts_with("def test_");
    let name = path.file_name()?.to_string_lossy();
    let test = text.lines().find(starts).and_then(|line| {
        let rest = line.strip_prefix("def ")?;
        rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()
    });
    let (entry, origin) = match test {
        Some(test) => (PythonEntry::Pytest(format!("{name}::{test}")), LaunchOrigin::Pytest),
        None if text.lines().any(|line| line.starts_with("if __name__")) => {
            (PythonEntry::Main(Vec::new()), LaunchOrigin::Main)
        }
        None => return None,
    };
    Some(LaunchSpec { kernel: None, grid: [1; 3], arguments: Vec::new(), entry: Some(entry), origin })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_run_themselves() {
        let of = |text: &str| {
            let found = launches(Path::new("/f/test_k.py"), None, text, true);
            found.iter().map(|it| (it.to_string(), it.origin.clone())).collect::<Vec<_>>()
        };
        let test =
            "def helper():\n    pass\n\ndef test_small(size):\n    pass\n\nif __name__ == '__main__':\n    f()\n";
        assert_eq!(of(test), [("pytest test_k.py::test_small".to_owned(), LaunchOrigin::Pytest)]);
        assert_eq!(of("if __name__ == \"__main__\":\n    f()\n"), [("main".to_owned(), LaunchOrigin::Main)]);
        assert_eq!(of("x = 1\n"), []);
    }
}
