//! How long it takes from an edit of a file of Gluon or plain Triton to its diagnostics, in an editor: whole texts over
//! LSP, beside ruff and ty on the same files and edits, where they are installed. Prints medians and ratios,
//! asserts nothing.
//!
//! `cargo bench -p fencepost-tests --bench gluon`

#[path = "../../server/tests/support/client.rs"]
mod client;

use client::{Server, root};
use fencepost_tests::gluon::long::long;
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 21;

fn main() {
    let fencepost = release();
    println!("{:<12} {:>7} {:<26} {:>10} {:>10} {:>10}", "server", "lines", "edit", "median ms", "most ms", "x ruff");
    let gluon = [Edit::Comment, Edit::Registers, Edit::Barrier];
    let files = [(long(650), gluon.as_slice()), (long(5_000), &gluon), (plain(500), &[Edit::Address, Edit::Added])];
    for (text, edits) in files {
        let Ok(text) = text else {
            println!("the kernels cannot be read");
            return;
        };
        for &edit in edits {
            let mut base = None;
            for (name, program, word) in
                [("ruff", "ruff", "server"), ("ty", "ty", "server"), ("fencepost", fencepost.as_str(), "lsp")]
            {
                if !runs(program) {
                    println!("{name:<12} is not installed");
                    continue;
                }
                let mut command = Command::new(program);
                command.arg(word).stderr(Stdio::null());
                let mut times = measure(command, &text, edit);
                times.sort_unstable();
                let ms = |at: usize| times.get(at).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3);
                let median = ms(times.len() / 2);
                let base = *base.get_or_insert(median);
                let count = text.lines().count();
                let (most, ratio) = (ms(times.len().saturating_sub(1)), median / base);
                println!("{name:<12} {count:>7} {:<26} {median:>10.2} {most:>10.2} {ratio:>10.2}", edit.name());
            }
        }
    }
}

/// A file of plain Triton of at least this many lines: the kernels of `tests/races/`, with names that do not clash.
fn plain(lines: usize) -> Result<String, String> {
    let folder = root().join("tests/races");
    let (mut text, mut round) = (String::new(), 0);
    while text.lines().count() < lines {
        for name in ["rows", "products", "attention", "sharing"] {
            let path = folder.join(format!("{name}.py"));
            let mut code = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let names: Vec<String> = code
                .lines()
                .filter_map(|line| Some(line.strip_prefix("def ")?.split_once('(')?.0.to_owned()))
                .collect();
            for name in names.iter().filter(|_| round > 0) {
                for end in ["(", "["] {
                    code = code.replace(&format!("{name}{end}"), &format!("{name}_{round}{end}"));
                }
            }
            text.push_str(&code);
            if text.lines().count() >= lines {
                break;
            }
        }
        round += 1;
    }
    Ok(text)
}

/// Our own binary, optimised.
fn release() -> String {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--release", "--package", "fencepost"]).current_dir(root());
    let built = build.stdin(Stdio::null()).status().is_ok_and(|status| status.success());
    assert!(built, "the fencepost binary does not build");
    let exe = std::env::current_exe().unwrap_or_default();
    let target = exe.ancestors().nth(3).map(|folder| folder.join("release/fencepost")).unwrap_or_default();
    target.display().to_string()
}

fn runs(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// What is typed.
#[derive(Clone, Copy)]
enum Edit {
    /// A comment above a kernel.
    Comment,
    /// Register math in a kernel.
    Registers,
    /// A barrier more in a kernel: it is another kernel each time.
    Barrier,
    /// An address of plain Triton: the first kernel writes elsewhere each time.
    Address,
    /// A kernel of plain Triton more, at the end.
    Added,
}

impl Edit {
    fn name(self) -> &'static str {
        match self {
            Edit::Comment => "a comment",
            Edit::Registers => "register math",
            Edit::Barrier => "a barrier array",
            Edit::Address => "an address",
            Edit::Added => "a kernel",
        }
    }

    /// The text after the edit with this number, in the last kernel of the file.
    fn apply(self, text: &str, number: usize) -> String {
        let line = match self {
            Edit::Address => {
                let block = format!("tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + {number}\n");
                return text.replacen("tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n", &block, 1);
            }
            Edit::Added => {
                let body = format!("    tl.store(out + tl.program_id(0) * {} + tl.arange(0, 16), 0.0)\n", number + 16);
                return format!("{text}\n\n@triton.jit\ndef added(out):\n{body}");
            }
            Edit::Comment => format!("    # edit {number}"),
            Edit::Registers => format!("    edited = gl.zeros([64, 64], gl.float32, gl.AutoLayout()) + {number}.0"),
            Edit::Barrier => format!("    edited = mbarrier.allocate_mbarrier(batch={})", number + 1),
        };
        let directive = text.rfind("# fencepost:").unwrap_or(0);
        let body = text[directive..].find("):\n").map_or(text.len(), |at| directive + at + 3);
        format!("{}{line}\n{}", &text[..body], &text[body..])
    }
}

fn measure(command: Command, text: &str, edit: Edit) -> Vec<Duration> {
    let capabilities = json!({ "textDocument": { "publishDiagnostics": { "versionSupport": true } } });
    let mut server = Server::spawn(command, capabilities);
    let folder = std::env::temp_dir();
    let uri = format!("file://{}/fencepost_bench.py", folder.display());
    server.open_as("python", &uri, text);
    let _: Vec<Value> = server.diagnostics(&uri, 1);
    let mut times = Vec::new();
    for number in 0..RUNS {
        let edited = edit.apply(text, number);
        let version = number as i32 + 2;
        let start = Instant::now();
        server.change(&uri, version, None, &edited);
        let _: Vec<Value> = server.diagnostics(&uri, version);
        times.push(start.elapsed());
    }
    times
}
