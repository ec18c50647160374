//! `cargo xtask dist`: what is handed out, for the machine that it runs on, below `target/packages`.
//!
//! The binary with its completions and manual pages as an archive, the wheel, and the extension for VS Code with the
//! binary in it. What a tool is missing for is skipped and says so; the workflow of a release runs this on one machine a
//! system.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::profile::{self, Training};
use crate::steps::{Outcome, Steps, answers, execute};
use crate::target;

/// What packs extensions.
const VSCE: &str = "@vscode/vsce@3";

/// What goes along with the binary wherever that goes.
const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// What other systems need.
const CROSS: &str = "
Other systems, each best on a machine of its own (.github/workflows/release.yml):
   aarch64-unknown-linux-gnu   rustup target add …, aarch64-linux-gnu-gcc as CC and linker (jemalloc is C)
   x86_64-unknown-linux-musl   rustup target add …, musl-gcc; runs on every Linux, jemalloc instead of musl's allocator
   aarch64- and x86_64-apple-darwin   a Mac, or `pip install ziglang` and cargo-zigbuild with an SDK
   x86_64-pc-windows-msvc      Windows, or cargo-xwin; the system's allocator, no C compiler
A wheel for older Linux than this one: `maturin build --zig --compatibility manylinux_2_28` (pip install maturin[zig]).
VS Code's names for them: linux-x64, linux-arm64, alpine-x64, darwin-arm64, darwin-x64, win32-x64.";

/// Builds everything for this machine; `profiled`: with a profile of a run of it, which takes another build.
pub fn run(root: &Path, profiled: bool) -> ExitCode {
    let mut steps = Steps::default();
    let host = host();
    let Packages { version, folder } = match packages(root) {
        Ok(packages) => packages,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let training = profiled.then(|| train(root, &host, &mut steps)).flatten();
    let mut built = false;
    steps.run("binary (profile dist)", |_| {
        let outcome = execute(root, knowing(&mut profile::build(), training.as_ref()));
        built = matches!(outcome, Outcome::Passed);
        outcome
    });
    let binary = target(root).join("dist").join(if cfg!(windows) { "fencepost.exe" } else { "fencepost" });
    if built {
        steps.run("archive with completions and manual pages", |_| archive(&folder, &binary, root, &version, &host));
        steps.run("wheel", |_| wheel(root, &folder, training.as_ref()));
        steps.run("extension for VS Code", |_| extension(root, &folder, &binary, &host));
    }
    print!("{steps}");
    println!("\n── {}", folder.display());
    for (name, size) in listed(&folder) {
        println!("   {:>9.1} MB  {name}", size as f64 / 1e6);
    }
    println!("{CROSS}");
    if steps.failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The training, where all of its steps have passed: what cannot be profiled is built without, which its step says.
fn train(root: &Path, host: &str, steps: &mut Steps) -> Option<Training> {
    let training = Training::new(root);
    let mut done = profile::is_possible(host);
    if !done {
        let why = "Rust's llvm-profdata is not installed (rustup component add llvm-tools)";
        steps.run("profile", |_| Outcome::Skipped(why));
    }
    let all: [(&str, &dyn Fn() -> Outcome); 3] = [
        ("binary that counts", &|| training.build(root)),
        ("training", &|| training.train(root)),
        ("profile", &|| training.merge(host)),
    ];
    for (name, step) in all {
        if done {
            steps.run(name, |_| {
                let outcome = step();
                done = matches!(outcome, Outcome::Passed);
                outcome
            });
        }
    }
    done.then_some(training)
}

/// A build that is told of the profile.
fn knowing<'a>(command: &'a mut Command, training: Option<&Training>) -> &'a mut Command {
    match training {
        Some(training) => command.env(profile::FLAGS, training.flags()),
        None => command,
    }
}

/// Where packages go.
struct Packages {
    version: String,
    folder: PathBuf,
}

fn packages(root: &Path) -> io::Result<Packages> {
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    let version = version.ok_or_else(|| io::Error::other("Cargo.toml names no version"))?.to_owned();
    let folder = target(root).join("packages");
    // What lies there may be of another version.
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(&folder)?;
    Ok(Packages { version, folder })
}

/// The target of this machine, as rustc names it.
fn host() -> String {
    let said = Command::new("rustc").arg("-vV").output().map(|out| out.stdout).unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    said.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or("unknown").to_owned()
}

fn archive(folder: &Path, binary: &Path, root: &Path, version: &str, host: &str) -> Outcome {
    let name = format!("fencepost-{version}-{host}");
    let inside = folder.join(&name);
    let made = fill(&inside, binary, root).map(|()| {
        let (file, kind) =
            if cfg!(windows) { (format!("{name}.zip"), "-acf") } else { (format!("{name}.tar.gz"), "-czf") };
        execute(folder, Command::new("tar").args([kind, &file, &name]))
    });
    let cleaned = fs::remove_dir_all(&inside);
    match (made, cleaned) {
        (Ok(outcome), Ok(())) => outcome,
        (Err(error), _) | (_, Err(error)) => {
            eprintln!("error: {name}: {error}");
            Outcome::Failed
        }
    }
}

/// The folder that is packed: the binary, what shells and `man` read, the licences.
fn fill(folder: &Path, binary: &Path, root: &Path) -> io::Result<()> {
    let completions = folder.join("completions");
    fs::create_dir_all(&completions)?;
    fs::copy(binary, folder.join(binary.file_name().unwrap_or_default()))?;
    for name in LICENCES.into_iter().chain(["README.md", "CHANGELOG.md"]) {
        fs::copy(root.join(name), folder.join(name))?;
    }
    let scripts = [
        ("bash", "fencepost.bash"),
        ("zsh", "_fencepost"),
        ("fish", "fencepost.fish"),
        ("powershell", "_fencepost.ps1"),
        ("elvish", "fencepost.elv"),
    ];
    for (shell, name) in scripts {
        let out = Command::new(binary).args(["completions", shell]).output()?;
        if !out.status.success() {
            return Err(io::Error::other(format!("there are no completions for {shell}")));
        }
        fs::write(completions.join(name), out.stdout)?;
    }
    let pages = Command::new(binary).arg("man").arg(folder.join("man")).status()?;
    if pages.success() { Ok(()) } else { Err(io::Error::other("there are no manual pages")) }
}

fn wheel(root: &Path, folder: &Path, training: Option<&Training>) -> Outcome {
    if !answers("maturin", &["--version"]) {
        return Outcome::Skipped("maturin is not installed (pip install maturin)");
    }
    let mut command = Command::new("maturin");
    execute(root, knowing(command.args(["build", "--out"]).arg(folder), training))
}

/// The extension with the binary in it, for the system that VS Code calls by another name.
fn extension(root: &Path, packages: &Path, binary: &Path, host: &str) -> Outcome {
    let folder = root.join("editors").join("vscode");
    if !answers("npm", &["--version"]) {
        return Outcome::Skipped("npm is not installed");
    }
    let Some(system) = system(host) else { return Outcome::Skipped("VS Code has no name for this system") };
    let server = folder.join("server");
    let copied = fs::create_dir_all(&server)
        .and_then(|()| LICENCES.iter().try_for_each(|name| fs::copy(root.join(name), server.join(name)).map(|_| ())))
        .and_then(|()| fs::copy(binary, server.join(binary.file_name().unwrap_or_default())));
    let outcome = match copied {
        Ok(_) => package(&folder, &packages.join(format!("fencepost-{system}.vsix")), system),
        Err(error) => {
            eprintln!("error: {}: {error}", folder.display());
            Outcome::Failed
        }
    };
    // An editor that is started from the sources takes the server that is being worked on.
    let _ = fs::remove_dir_all(&server);
    outcome
}

/// Bundles the extension and packs it.
fn package(folder: &Path, file: &Path, system: &str) -> Outcome {
    let (mut install, mut build, mut pack) = (Command::new("npm"), Command::new("npm"), Command::new("npx"));
    install.args(["ci", "--no-audit", "--no-fund"]);
    build.args(["run", "build"]);
    pack.args(["--yes", VSCE, "package", "--no-dependencies", "--allow-missing-repository", "--skip-license"]);
    pack.args(["--target", system, "--out"]).arg(file);
    let mut steps = [install, build, pack].into_iter().map(|mut command| execute(folder, &mut command));
    steps.find(|outcome| !matches!(outcome, Outcome::Passed)).unwrap_or(Outcome::Passed)
}

fn system(host: &str) -> Option<&'static str> {
    let mut parts = host.split('-');
    let arm = parts.next()? == "aarch64";
    Some(match (host.contains("linux"), host.contains("darwin"), host.contains("windows"), arm) {
        (true, ..) if host.ends_with("musl") => {
            if arm {
                "alpine-arm64"
            } else {
                "alpine-x64"
            }
        }
        (true, .., false) => "linux-x64",
        (true, .., true) => "linux-arm64",
        (_, true, _, false) => "darwin-x64",
        (_, true, _, true) => "darwin-arm64",
        (_, _, true, false) => "win32-x64",
        (_, _, true, true) => "win32-arm64",
        _ => return None,
    })
}

/// The files in a folder, with their sizes in bytes.
fn listed(folder: &Path) -> Vec<(String, u64)> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<(String, u64)> =
        files.filter_map(|file| Some((file.file_name().into_string().ok()?, file.metadata().ok()?.len()))).collect();
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::system;

    #[test]
    fn vs_code_has_names_of_its_own() {
        assert_eq!(system("x86_64-unknown-linux-gnu"), Some("linux-x64"));
        assert_eq!(system("x86_64-unknown-linux-musl"), Some("alpine-x64"));
        assert_eq!(system("aarch64-apple-darwin"), Some("darwin-arm64"));
        assert_eq!(system("x86_64-pc-windows-msvc"), Some("win32-x64"));
        assert_eq!(system("wasm32-unknown-unknown"), None);
    }
}
