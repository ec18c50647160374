//! Recipes in a file: those that were run in a workspace, and those that are written by hand.
//!
//! The file is TOML. Each `[[launch]]` has a `recipe`, as a line of text, or `kernel`, `grid` and a table
//! `arguments`; and the `file` that it is for, from the workspace's folder on. A file with one recipe needs no
//! `[[launch]]`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::spec::{LaunchArgument, LaunchOrigin, LaunchSpec};
use super::{recipe, value};
use crate::limits::recipes::FILE as BYTES;

/// Where a workspace keeps recipes.
pub const FILE: &str = ".fencepost/launches.toml";
/// The recipes of a workspace.
#[derive(Clone, Debug, Default)]
pub struct RecipeStore {
    root: PathBuf,
    /// File and recipe, in the order in which they were kept.
    kept: Vec<(String, String)>,
    /// What is wrong with the file.
    pub problem: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecipeFile {
    #[serde(default)]
    launch: Vec<RecipeEntry>,
    #[serde(flatten)]
    one: RecipeEntry,
}

#[derive(Deserialize, Default)]
struct RecipeEntry {
    file: Option<String>,
    recipe: Option<String>,
    kernel: Option<String>,
    grid: Option<GridSize>,
    #[serde(default)]
    arguments: BTreeMap<String, Scalar>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum GridSize {
    One(u32),
    Many(Vec<u32>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

impl RecipeEntry {
    fn launch(&self, python: bool, folder: &Path) -> Result<LaunchSpec, String> {
        let text = self.recipe.as_deref().unwrap_or("");
        let (mut launch, errors) = recipe::parse(text, python, folder);
        if let Some(error) = errors.into_iter().next() {
            return Err(error.message);
        }
        if let Some(kernel) = &self.kernel {
            launch.kernel = Some(kernel.clone());
        }
        if let Some(grid) = &self.grid {
            let sizes = match grid {
                GridSize::One(size) => vec![*size],
                GridSize::Many(sizes) => sizes.clone(),
            };
            let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
            launch.grid = recipe::grid(&sizes.join(","))?;
        }
        for (name, scalar) in &self.arguments {
            let text = match scalar {
                Scalar::Bool(value) => value.to_string(),
                Scalar::Int(value) => value.to_string(),
                Scalar::Float(value) => format!("{value:?}"),
                Scalar::Text(text) => text.clone(),
            };
            let given = value::read(&text, Some(folder)).map_err(|wrong| format!("`{name}`: {}", wrong.message))?;
            launch.arguments.push(LaunchArgument { name: name.clone(), given });
        }
        Ok(launch)
    }

    fn is_empty(&self) -> bool {
        self.recipe.is_none() && self.kernel.is_none() && self.grid.is_none() && self.arguments.is_empty()
    }
}

fn entries(text: &str) -> Result<Vec<RecipeEntry>, String> {
    let whole: RecipeFile = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let mut entries = whole.launch;
    if !whole.one.is_empty() {
        entries.insert(0, whole.one);
    }
    Ok(entries)
}

/// The recipes of a file written by hand; files in them are looked for from its own folder on.
///
/// # Errors
///
/// What is wrong with it.
pub fn load(path: &Path, python: bool) -> Result<Vec<LaunchSpec>, String> {
    let named = |why: String| format!("{}: {why}", path.display());
    let text = fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let launches: Result<Vec<LaunchSpec>, String> =
        entries(&text).map_err(named)?.iter().map(|entry| entry.launch(python, folder)).collect();
    let launches = launches.map_err(named)?;
    if launches.is_empty() { Err(named("holds no recipe".to_owned())) } else { Ok(launches) }
}

impl RecipeStore {
    /// That of a workspace; one that is not there is empty.
    pub fn open(root: &Path) -> RecipeStore {
        let mut store = RecipeStore { root: root.to_path_buf(), ..RecipeStore::default() };
        let path = root.join(FILE);
        let Ok(data) = fs::metadata(&path) else { return store };
        if data.len() > BYTES {
            store.problem = Some(format!("{}: too large", path.display()));
            return store;
        }
        match fs::read_to_string(&path).map_err(|error| error.to_string()).and_then(|text| entries(&text)) {
            Ok(entries) => {
                let kept = entries.into_iter().filter_map(|entry| Some((entry.file?, entry.recipe?)));
                store.kept = kept.collect();
            }
            Err(why) => store.problem = Some(format!("{}: {why}", path.display())),
        }
        store
    }

    /// The recipes of a file, those that can be read.
    pub fn of(&self, file: &Path, python: bool) -> Vec<LaunchSpec> {
        let name = self.name(file);
        let own = self.kept.iter().filter(|(file, _)| *file == name);
        let read = own.filter_map(|(_, text)| {
            let (launch, errors) = recipe::parse(text, python, self.root.as_path());
            errors.is_empty().then_some(LaunchSpec { origin: LaunchOrigin::Stored, ..launch })
        });
        read.collect()
    }

    /// Whether this recipe was kept.
    pub fn has(&self, file: &Path, launch: &LaunchSpec) -> bool {
        self.kept.contains(&(self.name(file), launch.to_string()))
    }

    /// Keeps a recipe, in place of the file's other one for the same kernel, and writes the file.
    ///
    /// # Errors
    ///
    /// The system's; the file is as it was then.
    pub fn keep(&mut self, file: &Path, launch: &LaunchSpec) -> io::Result<()> {
        if let Some(why) = &self.problem {
            return Err(io::Error::other(why.clone()));
        }
        let name = self.name(file);
        let kernel = |text: &str| recipe::parse(text, true, self.root.as_path()).0.kernel;
        let mut kept = self.kept.clone();
        kept.retain(|(file, text)| *file != name || kernel(text) != launch.kernel);
        kept.push((name, launch.to_string()));
        kept.sort_by(|a, b| a.0.cmp(&b.0));
        let mut text = String::from("# How kernels were run. Kept by fencepost; edit or delete as you like.\n");
        for (file, recipe) in &kept {
            let _ = write!(text, "\n[[launch]]\nfile = {}\nrecipe = {}\n", quoted(file), quoted(recipe));
        }
        replace(&self.root.join(FILE), text.as_bytes())?;
        self.kept = kept;
        Ok(())
    }

    /// How a file is called in the store: from the root on, with `/`.
    fn name(&self, file: &Path) -> String {
        let inside = file.strip_prefix(&self.root).unwrap_or(file);
        inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(control));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// Writes a file whole or not at all.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    let write = || {
        let mut file = fs::File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        fs::rename(&beside, path)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("fencepost-{name}-{}", std::process::id()));
        let _ = fs::create_dir_all(&folder);
        folder
    }

    fn recipe(text: &str) -> LaunchSpec {
        recipe::parse(text, true, Path::new("")).0
    }

    #[test]
    fn what_is_kept_is_there_again() {
        let root = folder("store");
        let file = root.join("a \"b\"/k.py");
        let mut store = RecipeStore::open(&root);
        assert!(store.problem.is_none() && store.of(&file, true).is_empty());
        let first = recipe("k grid=4 M=256 note='x\\y'");
        assert!(store.keep(&file, &first).is_ok());
        assert!(store.keep(&file, &recipe("other main --x 1")).is_ok());
        assert!(store.keep(&file, &recipe("k grid=8")).is_ok());
        let again = RecipeStore::open(&root);
        assert_eq!(again.problem, None);
        let said: Vec<String> = again.of(&file, true).iter().map(LaunchSpec::to_string).collect();
        assert_eq!(said, ["other main --x 1", "k grid=8"]);
        assert!(again.has(&file, &recipe("k grid=8")) && !again.has(&file, &first));
        assert!(again.of(&root.join("other.py"), true).is_empty());
        assert_eq!(
            fs::read_dir(root.join(".fencepost")).map(Iterator::count).ok(),
            Some(1),
            "nothing is left beside it"
        );
        let _ = fs::remove_dir_all(root);
    }

    #[test]
    fn a_broken_store_is_said_and_not_overwritten() {
        let root = folder("broken");
        let _ = fs::create_dir_all(root.join(".fencepost"));
        assert!(fs::write(root.join(FILE), "[[launch").is_ok());
        let mut store = RecipeStore::open(&root);
        assert!(store.problem.as_ref().is_some_and(|why| why.contains("launches.toml")));
        assert!(store.keep(Path::new("k.py"), &recipe("k grid=8")).is_err());
        assert_eq!(fs::read_to_string(root.join(FILE)).ok().as_deref(), Some("[[launch"));
        let _ = fs::remove_dir_all(root);
    }

    #[test]
    fn recipes_written_by_hand() {
        let root = folder("hand");
        let path = root.join("launch.toml");
        let text = "kernel = 'gemm'\ngrid = [4, 2]\n[arguments]\na = 'f16[4]:ones'\nM = 256\nflag = true\n[[launch]]\nrecipe = 'k grid=3'\n";
        assert!(fs::write(&path, text).is_ok());
        let said = load(&path, false).map(|it| it.iter().map(LaunchSpec::to_string).collect::<Vec<_>>());
        assert_eq!(said, Ok(vec!["gemm grid=(4,2) M=256 a=f16[4]:ones flag=True".to_owned(), "k grid=3".to_owned()]));
        for (text, word) in
            [("grid = [0]", "no grid"), ("[arguments]\na = 'f99[1]'", "`a`"), ("x = 1", "x"), ("", "no recipe")]
        {
            assert!(fs::write(&path, text).is_ok());
            assert!(load(&path, false).is_err_and(|why| why.contains(word)), "{text}: {:?}", load(&path, false));
        }
        let _ = fs::remove_dir_all(root);
    }
}
